/**
 * A visitor who asks again while the line cannot be reached, as a page does. On a busy machine a disk, or another node, may take
 * longer than a gateway waits for it; such a visitor gives up a place that is granted too late.
 */
import { GIVE_UP_MS } from "../../src/testing/cli/eventually.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";
import type { HttpAnswer } from "../../src/visitor/ask.ts";
import { pause } from "./ask.ts";

const UNAVAILABLE = 503;
const ASK_AGAIN_MS = 100;

export class PatientVisitor extends ProcessVisitor {
  override async ask(...asked: Parameters<ProcessVisitor["ask"]>): Promise<HttpAnswer> {
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (;;) {
      const answer = await super.ask(...asked);
      if (answer.status !== UNAVAILABLE || Date.now() > giveUpAt) return answer;
      await pause(ASK_AGAIN_MS);
    }
  }
}
