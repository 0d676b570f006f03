/** A third-party site behind the gateway: a process of its own, which ends when it is disposed of. */
import type { Child } from "../../src/testing/cli/child.ts";
import { eventually, isListening } from "../../src/testing/cli/eventually.ts";

export interface Site extends AsyncDisposable {
  /** Its address, without the gateway. */
  readonly address: string;
}

/** Resolves once the program listens there. Fails with its output when it ends first. */
export const listening = (child: Child, address: string): Promise<boolean> =>
  ready(child, `something listens at ${address}`, () => isListening(address));

/** Resolves once the program is ready. Fails with its output when it ends first. */
export function ready(
  child: Child,
  what: string,
  isReady: () => boolean | Promise<boolean>,
): Promise<boolean> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  child.ended.then(end, end);
  return eventually(what, () => {
    if (isOver) throw new Error(`the site ended, in vain: ${what}\n${child.out}${child.err}`);
    return isReady();
  });
}
