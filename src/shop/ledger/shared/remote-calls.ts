/**
 * Calls of a ledger that another gateway keeps, as messages through Redis.
 *
 *   asker: [{ from, id, method, args }]  ─▶ BASE:calls ─▶ owner: does it once, and says the answer again when asked again
 *   asker ◀─ BASE:answers:FROM ◀─ [{ id, answer } or { id, failure }]
 *
 * A message may be lost and an owner may die, so a call is sent again until it is answered or its time is over. A command that
 * another owner has already carried out is known by its idempotency key.
 */
import { toHex } from "../../../core/hex.ts";
import type { World } from "../../../core/world.ts";
import type { SharedLink } from "./shared-records.ts";

/** A call that was not answered is sent again as soon. */
const RESEND_MS = 500;
const LOOK_EVERY_MS = RESEND_MS / 2;
/** Calls that may wait for an answer; more are refused. */
export const CALLS_MAX = 10_000;
/** The owner remembers answers for longer than anyone asks again, and no more than this many. */
const REMEMBERED_MS = 30_000;
const REMEMBERED_MAX = 100_000;
const NAME_BYTES = 8;

export type LedgerMethods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

interface Call {
  readonly from: string;
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Answer =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: { readonly name: string; readonly message: string } };

/** No gateway keeps the shop at the moment, or it cannot be reached. */
export class ShopAway extends Error {
  override readonly name = "ShopAway";

  constructor(shop: string) {
    super(
      `The gateway that keeps the shop "${shop}" does not answer. Another takes over within seconds; try again.`,
    );
  }
}

type CallsWorld = Pick<World, "clock" | "timers" | "random" | "log">;

/** Messages of one kind, those of a turn of the event loop in one. */
class Outbox<Message> {
  readonly #link: SharedLink;
  readonly #world: CallsWorld;
  readonly #waiting = new Map<string, Message[]>();

  constructor(link: SharedLink, world: CallsWorld) {
    this.#link = link;
    this.#world = world;
  }

  send(channel: string, message: Message): void {
    const waiting = this.#waiting.get(channel);
    if (waiting) {
      waiting.push(message);
      return;
    }
    this.#waiting.set(channel, [message]);
    this.#world.timers.after(0, () => this.#flush(channel));
  }

  #flush(channel: string): void {
    const text = JSON.stringify(this.#waiting.get(channel));
    this.#waiting.delete(channel);
    // Lost messages are sent again.
    this.#link.command(null, ["PUBLISH", channel, text]).catch(() => {});
  }
}

interface Asked {
  readonly call: Call;
  leftMs: number;
  sentAgainInMs: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface RemoteParts {
  readonly link: SharedLink;
  readonly world: CallsWorld;
  readonly base: string;
  readonly shop: string;
}

/** The asker's side. Time is counted in looks: a clock may be set back, and then stands still. */
export class RemoteCalls {
  readonly #parts: RemoteParts;
  readonly #name: string;
  readonly #outbox: Outbox<Call>;
  readonly #asked = new Map<number, Asked>();
  readonly #stop: (() => void)[];
  #lastId = 0;
  #isClosed = false;

  constructor(parts: RemoteParts) {
    const { link, world, base } = parts;
    this.#parts = parts;
    this.#name = toHex(world.random.bytes(NAME_BYTES));
    this.#outbox = new Outbox(link, world);
    const ear = { onMessage: (text: string) => this.#onAnswers(text), onGap: () => this.sendAgain() };
    this.#stop = [
      link.hear(`${base}:answers:${this.#name}`, ear),
      world.timers.every(LOOK_EVERY_MS, () => this.#look()),
    ];
  }

  ask(method: string, args: readonly unknown[], timeoutMs: number): Promise<unknown> {
    if (this.#isClosed || this.#asked.size >= CALLS_MAX)
      return Promise.reject(new ShopAway(this.#parts.shop));
    const call = { from: this.#name, id: ++this.#lastId, method, args };
    return new Promise((resolve, reject) => {
      const asked = { call, leftMs: timeoutMs, sentAgainInMs: RESEND_MS, resolve, reject };
      this.#asked.set(call.id, asked);
      this.#send(asked);
    });
  }

  /** There may be another owner, or messages were lost. */
  sendAgain(): void {
    for (const asked of this.#asked.values()) this.#send(asked);
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stop) stop();
    for (const { reject } of this.#asked.values()) reject(new ShopAway(this.#parts.shop));
    this.#asked.clear();
  }

  #look(): void {
    for (const asked of this.#asked.values()) {
      asked.leftMs -= LOOK_EVERY_MS;
      asked.sentAgainInMs -= LOOK_EVERY_MS;
      if (asked.leftMs <= 0) {
        this.#asked.delete(asked.call.id);
        asked.reject(new ShopAway(this.#parts.shop));
      } else if (asked.sentAgainInMs <= 0) this.#send(asked);
    }
  }

  #send(asked: Asked): void {
    asked.sentAgainInMs = RESEND_MS;
    this.#outbox.send(`${this.#parts.base}:calls`, asked.call);
  }

  #onAnswers(text: string): void {
    for (const answer of readList<Answer>(text)) {
      const asked = this.#asked.get(answer.id);
      if (!asked) continue;
      this.#asked.delete(answer.id);
      if ("failure" in answer) asked.reject(failureOf(answer.failure));
      else asked.resolve(answer.answer);
    }
  }
}

/** The owner's side: answers calls with its own ledger, while it is open. */
export class CallDesk {
  readonly #parts: RemoteParts;
  readonly #methods: LedgerMethods;
  readonly #isOwner: () => boolean;
  readonly #outbox: Outbox<Answer>;
  readonly #underWay = new Set<string>();
  /** Answers since the last turn of the page, and those before it. */
  #done = new Map<string, Answer>();
  #doneBefore = new Map<string, Answer>();
  readonly #stop: (() => void)[];

  /** `isOwner`: while the ledger may be another gateway's, that one answers. */
  constructor(parts: RemoteParts, methods: LedgerMethods, isOwner: () => boolean) {
    const { link, world, base } = parts;
    this.#parts = parts;
    this.#methods = methods;
    this.#isOwner = isOwner;
    this.#outbox = new Outbox(link, world);
    const ear = { onMessage: (text: string) => this.#onCalls(text), onGap: () => {} };
    this.#stop = [link.hear(`${base}:calls`, ear), world.timers.every(REMEMBERED_MS, () => this.#turnPage())];
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  #onCalls(text: string): void {
    for (const call of readList<Call>(text)) {
      const key = `${call.from} ${call.id}`;
      const answer = this.#done.get(key) ?? this.#doneBefore.get(key);
      if (answer) this.#answer(call, answer);
      else if (!this.#underWay.has(key)) void this.#do(key, call);
    }
  }

  async #do(key: string, call: Call): Promise<void> {
    const { id, method, args } = call;
    if (!Object.hasOwn(this.#methods, method) || !this.#isOwner()) return;
    this.#underWay.add(key);
    let answer: Answer;
    try {
      answer = { id, answer: (await this.#methods[method]!(...(args as never[]))) ?? null };
    } catch (error) {
      // Then the next owner does it, or this one when it is asked again.
      if (!this.#isOwner()) return;
      const { name, message } = error as Error;
      answer = { id, failure: { name, message } };
    } finally {
      this.#underWay.delete(key);
    }
    if (this.#done.size >= REMEMBERED_MAX) this.#turnPage();
    this.#done.set(key, answer);
    this.#answer(call, answer);
  }

  #answer({ from }: Call, answer: Answer): void {
    this.#outbox.send(`${this.#parts.base}:answers:${from}`, answer);
  }

  #turnPage(): void {
    this.#doneBefore = this.#done;
    this.#done = new Map();
  }
}

/** Messages come from gateways of the same Redis: what is no list is left out. */
function readList<Message>(text: string): readonly Message[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((one) => typeof one === "object" && one !== null) : [];
  } catch {
    return [];
  }
}

function failureOf({ name, message }: { readonly name: string; readonly message: string }): Error {
  const error = new Error(message);
  error.name = name;
  return error;
}
