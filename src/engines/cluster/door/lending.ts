/**
 * No line while there is room anywhere: a node without spare slots asks the others before it makes a newcomer wait. A node with
 * spare slots and nobody waiting gives half of them. A slot that is lost on the way is missing until the next counting round
 * finds out. Lender and borrower must have reported to the same round last: a slot that was given before one report and taken
 * after the other would be counted as missing, and then exist twice.
 *
 * During a round every node has offered its spare slots, so a newcomer waits for the announcement instead. Newcomers who come
 * while a question is open wait for the same answer. When nobody has a slot to lend, nobody is asked again before the next round.
 */

const ANSWER_MAX_MS = 150;
/** Beyond this many waiting newcomers, further ones join the line at once. */
const WAITING_MAX = 200;

export type LendingBody =
  | { readonly kind: "lend"; readonly room: string; readonly number: number; readonly round: string }
  | {
      readonly kind: "lent";
      readonly room: string;
      readonly number: number;
      readonly slots: number;
      readonly leave: number;
      readonly round: string;
    };

interface Question {
  readonly number: number;
  readonly by: number;
  readonly unanswered: Set<string>;
  readonly waiting: (() => void)[];
}

/** Slots, and leave to go straight through. */
export interface Loan {
  readonly slots: number;
  readonly leave: number;
}

export interface Lender {
  /** The last round this node reported to; null while nothing may be lent. */
  round(): number | null;
  /** Everything spare was offered, and an announcement is on its way. */
  isRoundOpen(): boolean;
  peers(): readonly string[];
  /** Gives away what can be spared. */
  lend(room: string): Loan;
  take(room: string, loan: Loan): void;
}

const NOTHING: Loan = { slots: 0, leave: 0 };

export class Lending {
  readonly #lender: Lender;
  readonly #questions = new Map<string, Question>();
  readonly #dry = new Set<string>();
  readonly #awaited = new Set<string>();
  #number = 0;
  #view = 0;
  #outbox: { to: string; body: LendingBody }[] = [];

  constructor(lender: Lender) {
    this.#lender = lender;
  }

  /** Calls back when a slot has come or nobody has one. False when asking is of no use. */
  ask(room: string, now: number, done: () => void): boolean {
    const isRound = this.#lender.isRoundOpen();
    const peers = isRound ? [] : this.#lender.peers();
    if (!isRound && (this.#dry.has(room) || peers.length === 0)) return false;
    const known = this.#questions.get(room);
    if (known) {
      if (known.waiting.length >= WAITING_MAX) return false;
      known.waiting.push(done);
      return true;
    }
    const number = ++this.#number;
    this.#questions.set(room, {
      ...{ number, by: now + ANSWER_MAX_MS, unanswered: new Set(peers), waiting: [done] },
    });
    const round = this.#round();
    for (const to of peers) {
      this.#awaited.add(`${number}/${to}`);
      this.#outbox.push({ to, body: { kind: "lend", room, number, round } });
    }
    return true;
  }

  /** A counting round has handed out slots. */
  refresh(room: string): void {
    this.#dry.delete(room);
    if (this.#questions.get(room)?.unanswered.size === 0) this.#close(room);
    if (this.#awaited.size > 0 && this.#questions.size === 0) this.#awaited.clear();
  }

  /** Another view: no more answers come. */
  start(view: number): void {
    this.#view = view;
    for (const room of [...this.#questions.keys()]) this.#close(room);
    this.#dry.clear();
    this.#awaited.clear();
  }

  receive(from: string, body: LendingBody): void {
    const { room, number } = body;
    if (body.kind === "lend") {
      const round = this.#round();
      const isSame = this.#lender.round() !== null && body.round === round;
      const loan = isSame ? this.#lender.lend(room) : NOTHING;
      this.#outbox.push({ to: from, body: { kind: "lent", room, number, round, ...loan } });
      return;
    }
    const { slots, leave } = body;
    if (!this.#awaited.delete(`${number}/${from}`) || !(slots >= 0 && leave >= 0)) return;
    const isGood = body.round === this.#round() && this.#lender.round() !== null;
    if (isGood) this.#lender.take(room, { slots, leave });
    const question = this.#questions.get(room);
    if (question?.number !== number) return;
    question.unanswered.delete(from);
    if (isGood && (slots > 0 || leave > 0)) this.#close(room);
    else if (question.unanswered.size === 0) {
      this.#dry.add(room);
      this.#close(room);
    }
  }

  tick(now: number): void {
    for (const [room, { by }] of this.#questions) {
      if (by > now) continue;
      this.#dry.add(room);
      this.#close(room);
    }
  }

  nextAt(): number {
    let at = Number.POSITIVE_INFINITY;
    for (const { by } of this.#questions.values()) at = Math.min(at, by);
    return at;
  }

  takeOutbox(): { to: string; body: LendingBody }[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  /** Equal on two nodes exactly when they reported to the same rounds. */
  #round(): string {
    return `${this.#view}/${this.#lender.round()}`;
  }

  #close(room: string): void {
    const question = this.#questions.get(room);
    this.#questions.delete(room);
    for (const done of question?.waiting ?? []) done();
  }
}
