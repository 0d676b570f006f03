/**
 * The records of a ledger that several gateways share, in Redis: what `ledger.lua` can do, typed. One gateway owns them at a time;
 * what another writes is refused.
 */
import { type HeldValue, heldFromDisk, toDisk } from "../../../durable/held-value.ts";

/** The part of a link to Redis that is used here. */
export interface SharedLink {
  call(name: string, key: string, args: readonly string[], kept?: KeptBy): Promise<readonly unknown[]>;
  command(key: string | null, args: readonly string[]): Promise<unknown>;
  hear(channel: string, ear: { onMessage(text: string): void; onGap(): void }): () => void;
  readonly problem: Error | null;
  onProblem(listener: (problem: Error | null) => void): () => void;
}

/** How many replicas must have a write, and within what time. */
export interface KeptBy {
  readonly replicas: number;
  readonly timeoutMs: number;
}

export type SharedEntry = readonly [key: string, held: HeldValue];
/** `behind`: writes that were confirmed are not there any more, or what was taken. `lost`: another gateway owns the records. */
export type WriteOutcome = "kept" | "behind" | "lost";

/** `whatIsFree`: where the owner before has given them up. `all`: also where an owner that is there would have said so by now. */
export type MayTake = "nothing" | "whatIsFree" | "all";

export interface TakenRecords {
  readonly seq: number;
  readonly alarmAt: number | null;
  /** How many records there are. */
  readonly count: number;
}

export interface SharedRecordsParts {
  readonly link: SharedLink;
  /** What the names of its keys begin with. In a Redis Cluster they belong to one hash slot by the braces in it. */
  readonly base: string;
  /** Names the owner: no other gateway, and no other life of this one, has it. */
  readonly token: string;
  /** The owner may be silent for as long. */
  readonly leaseMs: number;
  readonly kept: KeptBy;
}

/** Prefix of the functions' short names. */
export const LEDGER_FUNCTIONS = "ledger/";
export const LEDGER_LUA = new URL("ledger.lua", import.meta.url);

const RECORDS_PER_READ = 1_000;
/** Records are written anew in pieces of this many characters: none keeps Redis from others for long. */
const FILL_CHARACTERS = 1_000_000;
const REMOVED = "";
const TEXT = "t";
const BYTES = "b";

export class SharedRecords {
  readonly #parts: SharedRecordsParts;
  /** The owners before this one, each with its last write: all of these are in its memory. */
  #past = new Map<string, number>();
  /** The one of these that Redis has gone back to. */
  #back = "";
  #refills = 0;

  constructor(parts: SharedRecordsParts) {
    this.#parts = parts;
  }

  /** Takes them when nobody owns them; null: somebody does, or may. */
  async take(mayTake: MayTake): Promise<TakenRecords | null> {
    const { leaseMs } = this.#parts;
    const [said, seq, alarm, count, past] = await this.#call("take", [`${leaseMs}`, mayTake]);
    if (said !== "taken") return null;
    this.#past = readPast(String(past));
    return { seq: Number(seq), alarmAt: alarm === "" ? null : Number(alarm), count: Number(count) };
  }

  /** All records, for their owner: some may come twice. */
  async *read(): AsyncGenerator<SharedEntry> {
    const { link, base } = this.#parts;
    const key = `${base}:records`;
    let cursor = "0";
    do {
      const answer = await link.command(key, ["HSCAN", key, cursor, "COUNT", `${RECORDS_PER_READ}`]);
      const [next, found] = answer as [string, string[]];
      for (let i = 0; i < found.length; i += 2) yield [found[i]!, decode(found[i + 1]!)];
      cursor = String(next);
    } while (cursor !== "0");
  }

  /** Writes all of it or nothing. Sent twice it is written once. */
  commit(
    before: number,
    entries: Iterable<SharedEntry>,
    alarmAt: number | null | undefined,
  ): Promise<WriteOutcome> {
    const args = [`${this.#parts.leaseMs}`, `${before}`, `${before + 1}`, alarmText(alarmAt)];
    for (const [key, held] of entries) args.push(key, encode(held));
    return this.#write("commit", args);
  }

  /** Says that the owner is alive, and asks whether the last write is still there. */
  renew(seq: number): Promise<WriteOutcome> {
    return this.#write("commit", [`${this.#parts.leaseMs}`, `${seq}`, `${seq}`, ""]);
  }

  /** Writes all records anew. `behind`: some of what was written is not there any more, and the records are as they were. */
  async refill(seq: number, entries: readonly SharedEntry[], alarmAt: number | null): Promise<WriteOutcome> {
    const head = [`${this.#parts.leaseMs}`, `${++this.#refills}`];
    let said = await this.#write("clear", [...head, this.#back, `${this.#past.get(this.#back) ?? 0}`]);
    for (let from = 0, to = 0; from < entries.length && said === "kept"; from = to) {
      const piece: string[] = [];
      for (let characters = 0; to < entries.length && characters < FILL_CHARACTERS; to++) {
        const [key, held] = entries[to]!;
        const text = encode(held);
        piece.push(key, text);
        characters += key.length + text.length;
      }
      said = await this.#write("fill", [...head, `${from}`, ...piece]);
    }
    if (said !== "kept") return said;
    const alarm = alarmAt === null ? "-" : `${alarmAt}`;
    return this.#write("swap", [...head, `${entries.length}`, `${seq}`, alarm]);
  }

  /** Gives them up: the next owner need not wait. */
  async free(): Promise<void> {
    await this.#call("free", []);
  }

  async #write(name: string, args: readonly string[]): Promise<WriteOutcome> {
    const [said, owner, seq] = await this.#call(name, args);
    if (said === "lost" && this.#isBack(String(owner), Number(seq))) return "behind";
    if (said !== "kept" && said !== "behind" && said !== "lost")
      throw new Error(`a write to a shop's records was answered ${JSON.stringify(said)}`);
    return said;
  }

  /** Whether Redis has only forgotten that it was taken, and what was written since. */
  #isBack(owner: string, seq: number): boolean {
    const isPast = seq <= (this.#past.get(owner) ?? -1);
    if (isPast) this.#back = owner;
    return isPast;
  }

  #call(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    const { link, base, token, kept } = this.#parts;
    return link.call(`${LEDGER_FUNCTIONS}${name}`, base, [token, ...args], kept);
  }
}

/** "OWNER SEQ OWNER SEQ …"; the end may be cut off. */
function readPast(text: string): Map<string, number> {
  const words = text.split(" ");
  const past = new Map<string, number>();
  for (let i = 0; i + 1 < words.length; i += 2)
    if (!past.has(words[i]!)) past.set(words[i]!, Number(words[i + 1]));
  return past;
}

function alarmText(alarmAt: number | null | undefined): string {
  return alarmAt === undefined ? "" : alarmAt === null ? "-" : `${alarmAt}`;
}

function encode(held: HeldValue): string {
  if (held === undefined) return REMOVED;
  if (typeof held === "string") return `${TEXT}${held}`;
  return `${BYTES}${Buffer.from(toDisk(held)).toString("base64")}`;
}

function decode(text: string): HeldValue {
  if (text.startsWith(TEXT)) return text.slice(TEXT.length);
  return heldFromDisk(Buffer.from(text.slice(BYTES.length), "base64"));
}
