/**
 * What the chapters about the door share: visitors in lanes, who was given a turn and in what order, and the way to
 * declare a play. The order of admission is taken from what listeners are told, which is what visitors' pages hear.
 */
import assert from "node:assert/strict";
import type { Capability } from "../../core/capabilities.ts";
import type { JoinAnswer, Newcomer } from "../../core/engine.ts";
import { DEFAULT_RULES, type LanesRules, type RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { type EngineStage, expectKind, ROOM } from "./conformance-stage.ts";

/** Declares one test: a room under these rules, what is played in it, and what an engine must be able to do for it. */
export type Play = (
  name: string,
  rules: Partial<RoomRules>,
  script: (stage: EngineStage) => Promise<void>,
  needs?: readonly Capability[],
) => void;

/** The same for tests that all need something. */
export function needing(play: Play, ...all: readonly Capability[]): Play {
  return (name, rules, script, needs = []) => play(name, rules, script, [...all, ...needs]);
}

export const VIP = 7;
export const CREW = 9;

/** Two lanes before everybody's. */
export function twoLanes(order: LanesRules["order"], othersShare = 10): LanesRules {
  return {
    order,
    othersShare,
    named: [
      { number: VIP, name: "vip", share: 30, isPrivileged: true },
      { number: CREW, name: "crew", share: 10, isPrivileged: false },
    ],
  };
}

/** The same answers as `join`, for someone in a lane and perhaps with a code. */
export async function joinAs(stage: EngineStage, newcomer: Partial<Newcomer>): Promise<JoinAnswer> {
  return stage.engine.join(ROOM, { lane: 0, invite: null, canWait: true, ...newcomer });
}

/** Joins these lanes one after the other; everyone gets a place. */
export async function joinLanes(stage: EngineStage, lanes: readonly number[]): Promise<Ticket[]> {
  const tickets: Ticket[] = [];
  for (const lane of lanes) tickets.push(expectKind(await joinAs(stage, { lane }), "waiting").ticket);
  return tickets;
}

/** Starts to listen for turns. */
export async function hearTurns(stage: EngineStage): Promise<HeardTurns> {
  return new HeardTurns(stage, await turnsGiven(stage));
}

/** Turns as listeners hear of them. An engine that keeps its rooms tells of a turn once it is kept. */
export class HeardTurns {
  readonly #stage: EngineStage;
  #heard: number[] = [];
  /** How many were given before those that are heard next. */
  #before: number;

  constructor(stage: EngineStage, before: number) {
    this.#stage = stage;
    this.#before = before;
    stage.engine.subscribe({ onTurns: (room, sequences) => room === ROOM && this.#heard.push(...sequences) });
  }

  /** Everyone who was given a turn since this was last asked, by sequence, in the order of admission. */
  async take(): Promise<number[]> {
    const given = (await turnsGiven(this.#stage)) - this.#before;
    await untilTold(() => this.#heard.length >= given);
    const heard = this.#heard;
    assert.equal(heard.length, given, "listeners hear of every turn");
    this.#before += given;
    this.#heard = [];
    return heard;
  }
}

/** Far longer than a disk or a network takes, however busy the machine is. */
const GIVE_UP_MS = 180_000;

/** Waits for what an engine tells a little later; fails when it never does. */
export async function untilTold(isTold: () => boolean): Promise<void> {
  const endAt = performance.now() + GIVE_UP_MS;
  while (!isTold()) {
    assert.ok(performance.now() < endAt, "the engine never tells of it");
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

async function turnsGiven(stage: EngineStage): Promise<number> {
  const { admitted, straightThrough } = (await stage.engine.counts(ROOM)).totals;
  return admitted - straightThrough;
}

/** How many are ahead of each of them, by tickets whose holders were never shown a number. */
export async function aheadOfTickets(
  stage: EngineStage,
  tickets: readonly Ticket[],
): Promise<(number | null)[]> {
  const ahead: (number | null)[] = [];
  for (const ticket of tickets) ahead.push(expectKind(await stage.engine.checkIn(ticket), "waiting").ahead);
  return ahead;
}

/** What has become of each of them. */
export async function kindsOf(stage: EngineStage, tickets: readonly Ticket[]): Promise<string[]> {
  const kinds: string[] = [];
  for (const ticket of tickets) kinds.push((await stage.engine.checkIn(ticket)).kind);
  return kinds;
}

/** The sequences, each by where its ticket stands in the list; -1 for one that is not in it. */
export function placesOf(sequences: readonly number[], tickets: readonly Ticket[]): number[] {
  return sequences.map((sequence) => tickets.findIndex((ticket) => ticket.sequence === sequence));
}

/** Opens another room beside the stage's. */
export async function openRoom(stage: EngineStage, room: string, rules: Partial<RoomRules>): Promise<void> {
  await stage.engine.configure(room, { ...DEFAULT_RULES, ...rules });
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
