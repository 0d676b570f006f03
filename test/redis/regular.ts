/** A visitor who is on the site all the time, and looks at a page of it through one and the same gateway. */
import { Asker, pause } from "../crash/ask.ts";

const PAGE_EVERY_MS = 300;

export class Regular {
  /** Answers that were not the site's. */
  readonly refusals: string[] = [];
  readonly #asker: Asker;
  readonly #work: Promise<void>;
  #cookie: string;
  #isOpen = true;

  /** Goes straight through: there must be room. */
  static async enter(address: string): Promise<Regular> {
    const asker = new Asker(address, 1);
    const answer = await asker.ask({ method: "GET", path: "/" });
    if (answer?.json.site !== true || !answer.cookie) throw new Error(`no room: ${answer?.text}`);
    return new Regular(asker, answer.cookie);
  }

  private constructor(asker: Asker, cookie: string) {
    this.#asker = asker;
    this.#cookie = cookie;
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
      if (answer?.cookie) this.#cookie = answer.cookie;
      if (answer?.json.site !== true)
        this.refusals.push(answer ? `${answer.status} ${answer.text}` : "no answer");
    }
  }
}
