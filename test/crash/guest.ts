/**
 * One visitor of the crash test: joins, checks in as told, enters, looks at a few pages, leaves, and later shows again what is
 * over, which must be refused. While the gateway is away they repeat their request, as browsers do. Everything they are told is
 * recorded in the books.
 */
import { type Answer, type Asks, pause, type Question } from "./ask.ts";
import type { Books } from "./books.ts";

const OWN = "/.fairgate/main";
const ENTER = `${OWN}/enter`;
const BACK_OFF_MS = { low: 40, high: 200 };
/** "Try again later": as good as no answer. */
const UNAVAILABLE = 503;
const TOO_MANY = 429;
/** A visitor who reads the board waits at least this long after an answer before asking again. */
const BOARD_RESPITE_MS = 1_000;
const LOOK_AT_BOARD_MS = 50;
const SHOW_AGAIN_MS = 100;
/** Sent back to the front of the line: their turn came, they did not use it while a slot was kept, and the site is full. */
const SENT_BACK_MS = 2_000;
/** A page may come with a pass that was renewed up to this share of a session ago, on an earlier request. */
const RENEWED_SHARE = 0.1;
/** Answers that accept a ticket or pass. */
const TAKEN = ["entered", "waiting", "admitted"];

export interface Manner {
  /** Whether they join by asking for a page, or at the endpoint. */
  readonly joins: "page" | "endpoint";
  /** Whether they learn of their turn from the board, or only from check-ins. */
  readonly readsBoard: boolean;
  readonly pages: number;
  readonly pageMs: number;
  /** How it ends: leaves the site, lets the session run out, or gives up while waiting. */
  readonly ends: "leaves" | "runs out" | "gives up";
}

export interface Surroundings {
  readonly asker: Asks;
  readonly books: Books;
  readonly sessionMs: number;
  readonly fraction: () => number;
  /** The highest sequence admitted, by the board. */
  readonly admittedOnBoard: () => number;
  /** For this long, gateways that have not heard of an end may still accept what is over. */
  readonly spreadMs: number;
  /** True when the run is over, even if visitors are left. */
  readonly isOver: () => boolean;
}

export class Guest {
  readonly number: number;
  /** Their name at the site; null until they were there. */
  visitor: string | null = null;
  /** How far the operator has ended the visit: requested, and then confirmed. */
  revocation: "none" | "asked" | "done" = "none";
  isOnSite = false;
  readonly #manner: Manner;
  readonly #around: Surroundings;
  #cookie: string | null = null;
  #ticket: string | null = null;
  #pass: string | null = null;
  #sequence = 0;
  #nextCheckInMs = 0;
  /** Their ticket or pass has expired, and was not given up. */
  #hasRunOut = false;
  /** Until then the pass is certainly valid. */
  #passUntil = 0;

  constructor(number: number, manner: Manner, around: Surroundings) {
    this.number = number;
    this.#manner = manner;
    this.#around = around;
  }

  /** The whole visit. */
  async visit(): Promise<void> {
    await this.#join();
    if (this.#pass === null && this.#manner.ends === "gives up") {
      await pause(this.#manner.pageMs);
      return this.#leave();
    }
    while (this.#pass === null) {
      await this.#waitOnce();
      if (this.#hasRunOut) return;
    }
    this.isOnSite = true;
    await this.#browse();
    this.isOnSite = false;
    const hasToLeave = this.revocation === "none" && this.#manner.ends !== "runs out" && !this.#hasRunOut;
    if (hasToLeave) await this.#leave();
  }

  /** Shows again what is over. A waiting room that remembers refuses all of it. */
  async showAgain(): Promise<void> {
    if (this.#hasRunOut) return;
    const isOver = this.revocation === "none" ? this.#manner.ends !== "runs out" : this.revocation === "done";
    if (!isOver) return;
    if (this.#pass !== null && Date.now() < this.#passUntil)
      await this.#replay("pass", this.#pass, "check-in");
    if (this.#ticket !== null) await this.#replay("ticket", this.#ticket, "enter");
  }

  async #join(): Promise<void> {
    const isPage = this.#manner.joins === "page";
    const answer = await this.#insist(
      isPage ? { method: "GET", path: "/" } : { method: "POST", path: `${OWN}/join` },
    );
    this.#hear(answer);
    if (this.#sequence === 0 && this.#pass === null)
      throw new Error(`a newcomer was answered ${answer.status} ${answer.text}`);
  }

  /** Waits as told, or until the board shows the turn, and asks. */
  async #waitOnce(): Promise<void> {
    const from = Date.now();
    const isDue = () => Date.now() >= from + this.#nextCheckInMs;
    const isCalled = () =>
      this.#manner.readsBoard &&
      Date.now() >= from + BOARD_RESPITE_MS &&
      this.#around.admittedOnBoard() >= this.#sequence;
    while (!isDue() && !isCalled() && !this.#around.isOver()) await pause(LOOK_AT_BOARD_MS);
    const path = isDue() ? `${OWN}/check-in` : ENTER;
    const answer = await this.#insist({ method: "POST", path });
    this.#hear(answer);
    if (answer.json.status === "admitted") this.#hear(await this.#insist({ method: "POST", path: ENTER }));
  }

  async #browse(): Promise<void> {
    for (let page = 0; page < this.#manner.pages && this.revocation === "none"; page++) {
      const answer = await this.#insist({ method: "GET", path: `/${page}` });
      if (this.revocation !== "none") return this.#forgetNewPlace(answer);
      // On a slow machine a visit may expire between two pages. A visitor who asks for a page then is a new one.
      const isAsBefore =
        answer.json.site === true && answer.json.visitor === (this.visitor ?? answer.json.visitor);
      if (!isAsBefore && answer.at >= this.#passUntil) {
        this.#hasRunOut = true;
        return this.#forgetNewPlace(answer);
      }
      this.#hear(answer);
      await pause(this.#manner.pageMs);
    }
  }

  /** A page that was requested while the visit was being ended may have made its holder a newcomer; that place is given up. */
  async #forgetNewPlace(answer: Answer): Promise<void> {
    if (!answer.cookie || answer.json.visitor === this.visitor) return;
    const headers = { cookie: answer.cookie };
    await this.#insist({ method: "POST", path: `${OWN}/leave`, headers });
  }

  async #leave(): Promise<void> {
    const { books } = this.#around;
    books.note({ kind: "leaving", guest: this.number, at: Date.now() });
    const answer = await this.#insist({ method: "POST", path: `${OWN}/leave` });
    if (answer.json.status !== "left")
      throw new Error(`leaving was answered ${answer.status} ${answer.text}`);
    books.note({ kind: "left", guest: this.number, at: answer.at, address: answer.address });
  }

  async #replay(what: "pass" | "ticket", cookie: string, endpoint: string): Promise<void> {
    const question = { method: "POST", path: `${OWN}/${endpoint}`, headers: { cookie } } as const;
    const giveUpAt = Date.now() + this.#around.spreadMs;
    for (;;) {
      const answers = await this.#showEverywhere(question);
      const isTaken = answers.some(({ json }) => TAKEN.includes(String(json.status)));
      if (!isTaken || Date.now() >= giveUpAt) {
        const { at } = answers[0]!;
        return this.#around.books.note({ kind: "replayed", guest: this.number, at, what, isTaken });
      }
      // It expired before all gateways can have heard, so nothing follows from the answers.
      if (what === "pass" && Date.now() >= this.#passUntil) return;
      await pause(SHOW_AGAIN_MS);
    }
  }

  /** The answers of all gateways that are up; waits until there is one. */
  async #showEverywhere(question: Question): Promise<Answer[]> {
    for (;;) {
      this.#checkGoesOn();
      const answers = await this.#around.asker.askAll(question);
      const said = answers.filter(({ status }) => status !== UNAVAILABLE);
      if (said.length > 0) return said;
      await this.#backOff();
    }
  }

  /** Processes an answer, and records it in the books. */
  #hear(answer: Answer): void {
    const { books } = this.#around;
    const told = { guest: this.number, askedAt: answer.askedAt, at: answer.at };
    const { status } = answer.json;
    if (status === "waiting" && (answer.status === 200 || answer.status === TOO_MANY)) {
      this.#sequence = answer.json.sequence as number;
      this.#nextCheckInMs = answer.json.nextCheckInMs as number;
      if (answer.cookie) this.#ticket = this.#cookie = answer.cookie;
      books.note({
        ...{ kind: "placed", ...told, sequence: this.#sequence, nextCheckInMs: this.#nextCheckInMs },
        ...{ hasTicket: answer.cookie !== null, isSentBack: this.#nextCheckInMs <= SENT_BACK_MS },
      });
    } else if (status === "entered") {
      this.#takePass(answer, answer.json.expiresInMs as number);
    } else if (answer.json.site === true) {
      this.#hearSite(answer);
    } else if (status !== "admitted") {
      books.note({ kind: "turned away", ...told, words: `${answer.status} ${answer.text}` });
      // The books judge whether the ticket should still have been valid.
      if (this.#pass === null) this.#hasRunOut = true;
    }
  }

  #hearSite(answer: Answer): void {
    const told = { guest: this.number, askedAt: answer.askedAt, at: answer.at };
    const { visitor, joinedAt, admittedAt } = answer.json as unknown as Seen;
    if (answer.cookie !== null) this.#takePass(answer, this.#around.sessionMs * (1 - RENEWED_SHARE));
    this.visitor = visitor;
    this.#around.books.note({ kind: "served", ...told, visitor, joinedAt, admittedAt });
  }

  #takePass(answer: Answer, expiresInMs: number): void {
    const { askedAt, at } = answer;
    if (answer.cookie) this.#pass = this.#cookie = answer.cookie;
    this.#passUntil = Math.max(this.#passUntil, askedAt + expiresInMs);
    this.#around.books.note({ kind: "entered", guest: this.number, askedAt, at, expiresInMs });
  }

  /** Asks until there is an answer. */
  async #insist(question: Question): Promise<Answer> {
    const headers = { ...(this.#cookie ? { cookie: this.#cookie } : {}), ...question.headers };
    for (;;) {
      this.#checkGoesOn();
      const askedAt = Date.now();
      const answer = await this.#around.asker.ask({ ...question, headers });
      if (answer && answer.status !== UNAVAILABLE) return answer;
      if (question.path === ENTER)
        this.#around.books.note({ kind: "unanswered", guest: this.number, askedAt });
      await this.#backOff();
    }
  }

  #checkGoesOn(): void {
    if (this.#around.isOver()) throw new Error(`the play was over before guest ${this.number} was through`);
  }

  #backOff(): Promise<void> {
    const { low, high } = BACK_OFF_MS;
    return pause(low + (high - low) * this.#around.fraction());
  }
}

/** What the site says it was told about its visitor. */
interface Seen {
  readonly visitor: string;
  readonly joinedAt: number;
  readonly admittedAt: number;
}
