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
/** The owner remembers answers for longer than anyone asks again. */
const REMEMBERED_MS = 30_000;
const SWEEP_MS = 10_000;
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
  readonly until: number;
  sentAt: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface RemoteParts {
  readonly link: SharedLink;
  readonly world: CallsWorld;
  readonly base: string;
  readonly shop: string;
}

/** The asker's side. */
export class RemoteCalls {
  readonly #parts: RemoteParts;
  readonly #name: string;
  readonly #outbox: Outbox<Call>;
  readonly #asked = new Map<number, Asked>();
  readonly #stop: (() => void)[];
  #lastId = 0;

  constructor(parts: RemoteParts) {
    const { link, world, base } = parts;
    this.#parts = parts;
    this.#name = toHex(world.random.bytes(NAME_BYTES));
    this.#outbox = new Outbox(link, world);
    const ear = { onMessage: (text: string) => this.#onAnswers(text), onGap: () => this.sendAgain() };
    this.#stop = [
      link.hear(`${base}:answers:${this.#name}`, ear),
      world.timers.every(RESEND_MS / 2, () => this.#look()),
    ];
  }

  ask(method: string, args: readonly unknown[], timeoutMs: number): Promise<unknown> {
    const { base, world } = this.#parts;
    const call = { from: this.#name, id: ++this.#lastId, method, args };
    const now = world.clock.now();
    return new Promise((resolve, reject) => {
      this.#asked.set(call.id, { call, until: now + timeoutMs, sentAt: now, resolve, reject });
      this.#outbox.send(`${base}:calls`, call);
    });
  }

  /** There may be another owner, or messages were lost. */
  sendAgain(): void {
    for (const asked of this.#asked.values()) this.#send(asked);
  }

  close(): void {
    for (const stop of this.#stop) stop();
    for (const { reject } of this.#asked.values()) reject(new ShopAway(this.#parts.shop));
    this.#asked.clear();
  }

  #look(): void {
    const now = this.#parts.world.clock.now();
    for (const asked of this.#asked.values()) {
      if (asked.until <= now) {
        this.#asked.delete(asked.call.id);
        asked.reject(new ShopAway(this.#parts.shop));
      } else if (asked.sentAt + RESEND_MS <= now) this.#send(asked);
    }
  }

  #send(asked: Asked): void {
    asked.sentAt = this.#parts.world.clock.now();
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

interface Done {
  readonly at: number;
  answer: Answer | null;
}

/** The owner's side: answers calls with its own ledger, while it is open. */
export class CallDesk {
  readonly #parts: RemoteParts;
  readonly #methods: LedgerMethods;
  readonly #isOwner: () => boolean;
  readonly #outbox: Outbox<Answer>;
  readonly #done = new Map<string, Done>();
  readonly #stop: (() => void)[];

  /** `isOwner`: while the ledger may be another gateway's, that one answers. */
  constructor(parts: RemoteParts, methods: LedgerMethods, isOwner: () => boolean) {
    const { link, world, base } = parts;
    this.#parts = parts;
    this.#methods = methods;
    this.#isOwner = isOwner;
    this.#outbox = new Outbox(link, world);
    const ear = { onMessage: (text: string) => this.#onCalls(text), onGap: () => {} };
    this.#stop = [link.hear(`${base}:calls`, ear), world.timers.every(SWEEP_MS, () => this.#sweep())];
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  #onCalls(text: string): void {
    for (const call of readList<Call>(text)) {
      const key = `${call.from} ${call.id}`;
      const done = this.#done.get(key);
      if (!done) void this.#do(key, call);
      else if (done.answer) this.#answer(call, done.answer);
    }
  }

  async #do(key: string, call: Call): Promise<void> {
    const { id, method, args } = call;
    if (!Object.hasOwn(this.#methods, method) || !this.#isOwner()) return;
    const done: Done = { at: this.#parts.world.clock.now(), answer: null };
    this.#done.set(key, done);
    try {
      done.answer = { id, answer: (await this.#methods[method]!(...(args as never[]))) ?? null };
    } catch (error) {
      if (!this.#isOwner()) return;
      const { name, message } = error as Error;
      done.answer = { id, failure: { name, message } };
    }
    this.#answer(call, done.answer);
  }

  #answer({ from }: Call, answer: Answer): void {
    this.#outbox.send(`${this.#parts.base}:answers:${from}`, answer);
  }

  #sweep(): void {
    const before = this.#parts.world.clock.now() - REMEMBERED_MS;
    for (const [key, { at }] of this.#done) {
      if (at > before) return;
      this.#done.delete(key);
    }
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
