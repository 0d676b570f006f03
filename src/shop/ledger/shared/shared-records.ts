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
/** `behind`: writes that were confirmed are not there any more. `lost`: another gateway owns the records. */
export type WriteOutcome = "kept" | "behind" | "lost";

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

  constructor(parts: SharedRecordsParts) {
    this.#parts = parts;
  }

  /** Takes them when nobody owns them; null: somebody does, or may. */
  async take(mayTakeOver: boolean): Promise<TakenRecords | null> {
    const { leaseMs } = this.#parts;
    const [said, seq, alarm, count] = await this.#call("take", [`${leaseMs}`, mayTakeOver ? "1" : "0"]);
    if (said !== "taken") return null;
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

  /** Writes all records anew. */
  async refill(seq: number, entries: Iterable<SharedEntry>, alarmAt: number | null): Promise<WriteOutcome> {
    const lease = `${this.#parts.leaseMs}`;
    if ((await this.#write("clear", [lease])) === "lost") return "lost";
    let piece = [lease];
    let characters = 0;
    for (const [key, held] of entries) {
      const text = encode(held);
      piece.push(key, text);
      characters += key.length + text.length;
      if (characters < FILL_CHARACTERS) continue;
      if ((await this.#write("fill", piece)) === "lost") return "lost";
      piece = [lease];
      characters = 0;
    }
    if ((await this.#write("fill", piece)) === "lost") return "lost";
    return this.#write("swap", [lease, `${seq}`, alarmAt === null ? "-" : `${alarmAt}`]);
  }

  /** Gives them up: the next owner need not wait. */
  async free(): Promise<void> {
    await this.#call("free", []);
  }

  async #write(name: string, args: readonly string[]): Promise<WriteOutcome> {
    const [said] = await this.#call(name, args);
    if (said !== "kept" && said !== "behind" && said !== "lost")
      throw new Error(`a write to a shop's records was answered ${JSON.stringify(said)}`);
    return said;
  }

  #call(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    const { link, base, token, kept } = this.#parts;
    return link.call(`${LEDGER_FUNCTIONS}${name}`, base, [token, ...args], kept);
  }
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
