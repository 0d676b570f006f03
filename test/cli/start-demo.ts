/** `fairgate demo` as a process of its own, and the addresses it printed. */
import { Child } from "../../src/testing/cli/child.ts";
import { MAIN } from "../../src/testing/cli/fairgate.ts";

export interface Demo {
  readonly child: Child;
  readonly address: string;
  readonly shop: string;
  readonly control: string;
  readonly token: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startDemo(args: readonly string[]): Promise<Demo> {
  const child = new Child(process.execPath, [MAIN, "demo", ...args]);
  try {
    await child.prints(/Ctrl-C stops everything/);
    const find = (pattern: RegExp) => pattern.exec(child.out)?.[1] ?? "";
    return {
      child,
      address: find(/Stand in the line +(http:\S+)/),
      shop: find(/The shop itself +(http:\S+)/),
      control: find(/Control +(http:\S+)/),
      token: find(/Authorization: Bearer (\S+)/),
      // As a person stops it: killed at once it would leave its data in the temporary folder.
      [Symbol.asyncDispose]: async () => void (await child.end("SIGINT")),
    };
  } catch (cause) {
    await child[Symbol.asyncDispose]();
    throw cause;
  }
}
