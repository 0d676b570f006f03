/**
 * Idempotency keys: a write with a key is done once, and asked again it gets the first answer for a day. A refusal changed
 * nothing, so it is not kept: the same key may succeed later.
 */
import { toHex } from "../../../core/hex.ts";
import { sha256 } from "../../../core/sha256.ts";
import type { ShopRefusal } from "../commands.ts";
import type { ShopState } from "./shop-state.ts";

export const IDEMPOTENCY_KEY_LENGTH_MAX = 200;
/** Characters of answers that are kept for one visitor: hundreds of answers, or a few with very large baskets. */
export const KEPT_LENGTH_MAX = 1_000_000;
/** So begin keys that a gateway gives to writes without one, to be asked again by itself. */
export const GIVEN_KEY = "gateway ";
/** A longer command is kept as its hash. */
const COMMAND_LENGTH_MAX = 200;

/** A write as it is recognised again. */
export interface AskedOnce {
  /** Whose key it is: a visitor's id, or `ORGANISER`. */
  readonly scope: string;
  readonly command: readonly unknown[];
  readonly key: string | undefined;
}

/** Whose keys those of the organiser are. */
export const ORGANISER = "organiser";

/** The first answer to this write, or what `work` answers now. `wrong` makes a refusal of what is wrong with the key. */
export function once<Answer extends { readonly kind: string }>(
  shop: ShopState,
  { scope, command, key }: AskedOnce,
  now: number,
  parts: { readonly work: () => Answer; readonly wrong: (reason: string) => Answer },
): Answer {
  if (key === undefined) return parts.work();
  if (key === "" || key.length > IDEMPOTENCY_KEY_LENGTH_MAX || !key.isWellFormed())
    return parts.wrong(`an idempotency key has 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} characters`);
  const id = `${scope}/${key}`;
  const asked = shortened(JSON.stringify(command));
  const kept = shop.keys.get(id, now);
  if (kept)
    return kept.asked === asked
      ? (kept.answer as Answer)
      : parts.wrong("the idempotency key was used for another command");
  if (scope !== ORGANISER && shop.keys.lengthOf(scope) >= KEPT_LENGTH_MAX)
    return key.startsWith(GIVEN_KEY)
      ? parts.work()
      : parts.wrong("too many idempotency keys were used today");
  const answer = parts.work();
  if (answer.kind !== "refused") shop.keys.keep(id, { asked, answer, at: now });
  return answer;
}

/** A refusal for a shopper. */
export function wrongKey(reason: string): ShopRefusal {
  return { kind: "refused", code: "invalid", product: null, reason };
}

function shortened(command: string): string {
  return command.length <= COMMAND_LENGTH_MAX ? command : toHex(sha256(new TextEncoder().encode(command)));
}
