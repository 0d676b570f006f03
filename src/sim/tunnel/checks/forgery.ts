/** Nothing forged is ever accepted as a ticket or a pass. */
import type { Check, Notice } from "../notice.ts";

export class Forgery implements Check {
  readonly name = "forgery";

  see(notice: Notice): string | null {
    if (notice.kind !== "taken") return null;
    return `visitor ${notice.visitor} showed something made up, and was answered "${notice.reply}"`;
  }
}
