/**
 * The rules of the door in Lua, on a real Redis, beside those of core. A test runs a case on core and records what Lua must
 * answer to the same calls; many cases then go to Redis at once, and each answer is checked.
 *
 * Numbers are encoded so that they are read back exactly, both ways.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createClient } from "@redis/client";
import fc from "fast-check";
import { luaFiles } from "../../engines/redis/library.ts";
import { shrunkBriefly } from "../engines/shrinking.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

/** The relative error that `near` allows. */
export const NEAR = 1e-12;

/** The most cases that go to Redis at once. */
const CASES_MAX = 30;
/** Number of cases. A case of a single call is cheap, and it takes many to meet every limit. */
const RUNS = { long: 25, short: 200 };
/** Rules that never end would block a test forever. */
const GIVE_UP_MS = 300_000;

const DRIVER = new URL("rules-driver.lua", import.meta.url);
const RULES = luaFiles(new URL("../../engines/redis/lua/rules/", import.meta.url));
/** A function of the rules, as its file makes it: `  function flow.take(f, …)`. */
const MADE = /^ *function (\w+\.\w+)\(/gm;

export type Value = number | string | boolean | null;
type Judge = (told: readonly Value[]) => void;

/** One case: calls on the same state, in order, and how their answers are judged. */
export class Case {
  readonly rules: readonly object[];
  readonly calls: { readonly call: string }[] = [];
  readonly #judges: Judge[] = [];

  /** Calls name these by their number, from 1. */
  constructor(...rules: readonly object[]) {
    this.rules = rules;
  }

  /** The Lua function `call` must answer exactly this. */
  same(call: string, what: object, ...expected: readonly Value[]): void {
    this.judged(call, what, (told) => assert.deepEqual(told, expected.map(plain)));
  }

  /** The same, within the relative error. */
  near(call: string, what: object, ...expected: readonly Value[]): void {
    this.judged(call, what, (told) => assertNear(told, expected));
  }

  /** `judge` checks the answer. */
  judged(call: string, what: object, judge: Judge): void {
    this.calls.push({ call, ...what });
    this.#judges.push(judge);
  }

  /** Takes its answers from the front of `lines`. */
  judge(lines: Iterator<string>): void {
    for (const [i, judge] of this.#judges.entries()) {
      const told = parsed(lines.next().value);
      try {
        judge(told);
      } catch (error) {
        const asked = JSON.stringify({ rules: this.rules, calls: this.calls.slice(0, i + 1) });
        throw new Error(`Lua says ${told.join(", ")}: ${(error as Error).message}\nasked: ${asked}`);
      }
    }
  }
}

/** The rules in a Redis of their own. */
export class LuaRules {
  readonly #server: RedisServer;
  readonly #client: ReturnType<typeof createClient>;
  readonly #text = RULES.map((file) => readFileSync(file, "utf8")).join("\n");
  readonly #asked = new Set<string>();

  private constructor(server: RedisServer) {
    this.#server = server;
    this.#client = createClient({ url: server.url, RESP: 2, socket: { reconnectStrategy: false } });
    // A broken connection also fails what was asked.
    this.#client.on("error", () => {});
  }

  static async start(): Promise<LuaRules> {
    const rules = new LuaRules(await startRedis());
    try {
      await rules.#client.connect();
      await rules.#load();
    } catch (error) {
      await rules.stop();
      throw error;
    }
    return rules;
  }

  /** A test: `play` runs what was drawn on core and returns what Lua must answer. */
  sameAsCore<T>(name: string, cases: keyof typeof RUNS, drawn: fc.Arbitrary<T>, play: (of: T) => Case): void {
    const many = fc.array(drawn, { minLength: 1, maxLength: CASES_MAX, size: "max" });
    const property = fc.asyncProperty(
      many,
      shrunkBriefly((all) => this.judge(all.map(play))),
    );
    test(name, { timeout: GIVE_UP_MS }, () => fc.assert(property, { numRuns: RUNS[cases] }));
  }

  /** The functions of the rules that no case called. */
  get unasked(): string[] {
    const made = [...this.#text.matchAll(MADE)].map((match) => match[1]!);
    assert.ok(made.length > RULES.length, "every file of rules makes functions");
    return made.filter((name) => !this.#asked.has(name));
  }

  /** Asks Redis about many cases at once; fails at the first wrong answer. */
  async judge(cases: readonly Case[]): Promise<void> {
    const asked = cases.map(({ rules, calls }) => ({ rules, calls }));
    const words = ["FCALL", "rules_driver", "0", JSON.stringify(asked, withoutNulls)];
    const calls = cases.flatMap((one) => one.calls);
    const told = String(await this.#client.sendCommand(words));
    // Nothing was asked: an empty text would be one empty line.
    const lines = (calls.length === 0 ? [] : told.split("\n")).values();
    for (const one of cases) one.judge(lines);
    assert.equal(lines.next().done, true, "one answer for each call");
    for (const { call } of calls) this.#asked.add(call);
  }

  async stop(): Promise<void> {
    if (this.#client.isOpen) this.#client.destroy();
    await this.#server.stop();
  }

  async #load(): Promise<void> {
    const text = `#!lua name=rules_driver\n${this.#text}\n${readFileSync(DRIVER, "utf8")}`;
    await this.#client.sendCommand(["FUNCTION", "LOAD", text]);
  }
}

/** Fails when an answer is off by more than the relative error. */
function assertNear(told: readonly Value[], expected: readonly Value[]): void {
  assert.equal(told.length, expected.length);
  for (const [i, right] of expected.entries()) {
    const said = told[i];
    if (typeof right !== "number" || typeof said !== "number") assert.equal(said, right);
    else assert.ok(Math.abs(said - right) <= NEAR * Math.abs(right), `${right} is right`);
  }
}

function parsed(line: string): Value[] {
  return line === "" ? [] : line.split("\t").map(value);
}

function value(word: string): Value {
  if (word === "nil") return null;
  if (word === "true" || word === "false") return word === "true";
  if (word === "inf") return Number.POSITIVE_INFINITY;
  const number = Number(word);
  return Number.isNaN(number) ? word : plain(number);
}

/** There is one zero. */
function plain<T extends Value>(of: T): T | 0 {
  return of === 0 ? 0 : of;
}

/** Settings that are null are not there, as in what an engine hands to Redis. */
function withoutNulls(_key: string, of: unknown): unknown {
  return of === null ? undefined : of;
}
