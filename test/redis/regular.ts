/**
 * A visitor who is on the site all the time, and requests pages through one gateway. If the machine is suspended for as long as a
 * pass is valid, the visit is over, and there is nothing more to check.
 */
import { Asker, pause } from "../crash/ask.ts";

const PAGE_EVERY_MS = 300;
/** A pass that comes with a page may be up to this share of a session old. */
const RENEWED_SHARE = 0.1;

export class Regular {
  /** Answers that were not the site's. */
  readonly refusals: string[] = [];
  readonly #asker: Asker;
  readonly #work: Promise<void>;
  readonly #sessionMs: number;
  #cookie: string;
  /** Until then the pass is certainly valid. */
  #passUntil: number;
  #isOpen = true;

  /** Goes straight through: there must be room. */
  static async enter(address: string, sessionMs: number): Promise<Regular> {
    const asker = new Asker(address, 1);
    const answer = await asker.ask({ method: "GET", path: "/" });
    if (answer?.json.site !== true || !answer.cookie) throw new Error(`no room: ${answer?.text}`);
    return new Regular(asker, { cookie: answer.cookie, askedAt: answer.askedAt, sessionMs });
  }

  private constructor(asker: Asker, pass: { cookie: string; askedAt: number; sessionMs: number }) {
    this.#asker = asker;
    this.#cookie = pass.cookie;
    this.#sessionMs = pass.sessionMs;
    this.#passUntil = pass.askedAt + pass.sessionMs;
    this.#work = this.#look();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#work;
    this.#asker.close();
  }

  async #look(): Promise<void> {
    for (; this.#isOpen; await pause(PAGE_EVERY_MS)) {
      const headers = { cookie: this.#cookie };
      const answer = await this.#asker.ask({ method: "GET", path: "/", headers });
      if (answer?.json.site !== true) {
        if ((answer?.at ?? 0) >= this.#passUntil) return;
        this.refusals.push(answer ? `${answer.status} ${answer.text}` : "no answer");
      } else if (answer.cookie) {
        this.#cookie = answer.cookie;
        this.#passUntil = answer.askedAt + this.#sessionMs * (1 - RENEWED_SHARE);
      }
    }
  }
}
