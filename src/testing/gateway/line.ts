/** A line of visitors for the tests of the door: they join, get answers, and are let in in some order. */
import assert from "node:assert/strict";
import type { OutgoingHttpHeaders } from "node:http";
import type { RoomInput } from "../../config/schema.ts";
import type { Board } from "../../core/board.ts";
import { handWorld } from "../../sim/hand-world.ts";
import type { Stage } from "./stage.ts";
import { type HttpAnswer as Answer, JSON_CLIENT, type Visitor } from "./visitor.ts";

type EventInput = NonNullable<RoomInput["events"]>[number];

/** What a waiting visitor is told as JSON. */
export interface ToldPlace {
  readonly status: string;
  readonly sequence: number;
  readonly ahead: number | null;
  readonly waiting: number | null;
  readonly state: string;
  readonly opensAt: number | null;
  readonly message: string;
  readonly waitMs: object | null;
  readonly nextCheckInMs: number;
}

/** When every stage is opened, by its own clock. */
export const OPENED_AT = handWorld().clock.now();

/** An instant this long after that, as settings have it. */
export function instantAfter(afterMs: number): string {
  return new Date(OPENED_AT + afterMs).toISOString().replace(".000Z", "Z");
}

/** When, after the stage is opened, `saleEvent` gathers people, starts and ends. */
export const GATHERS_MS = 10_000;
export const STARTS_MS = 30_000;
export const ENDS_MS = 60_000;

/** An event of half a minute, with twenty seconds to gather before. */
export function saleEvent(overrides: Partial<EventInput> = {}): EventInput {
  return {
    name: "sale",
    prequeueStartTime: instantAfter(GATHERS_MS),
    eventStartTime: instantAfter(STARTS_MS),
    eventEndTime: instantAfter(ENDS_MS),
    ...overrides,
  };
}

/** Moves the stage's clock to this long after its opening. */
export function passTo(stage: Stage, afterMs: number): void {
  stage.world.pass(OPENED_AT + afterMs - stage.world.clock.now());
}

/** `count` visitors who join one after the other, and must wait. */
export async function joinLine(
  stage: Stage,
  count: number,
  options: { room?: string; headers?: OutgoingHttpHeaders } = {},
): Promise<Visitor[]> {
  const line: Visitor[] = [];
  for (let i = 0; i < count; i++) {
    const visitor = stage.visitor();
    assert.equal((await visitor.call("join", options)).status, "waiting");
    line.push(visitor);
  }
  return line;
}

/** What a visitor who asks for JSON gets at an address of the site. */
export async function askJson(visitor: Visitor, path = "/", headers: OutgoingHttpHeaders = {}) {
  const answer = await visitor.ask(path, { headers: { ...JSON_CLIENT, ...headers } });
  return { answer, told: JSON.parse(answer.text) as ToldPlace & { reason?: string; until?: number | null } };
}

export async function aheadOfEach(line: readonly Visitor[]): Promise<(number | null)[]> {
  return Promise.all(line.map(async (visitor) => (await askJson(visitor)).told.ahead));
}

export async function boardAt(stage: Stage, room = "main"): Promise<Board> {
  return JSON.parse((await stage.visitor().ask(`/.fairgate/${room}/board`)).text) as Board;
}

/** Lets visitors in one at a time, each after the one before has left, and returns the order in which they entered. */
export async function orderOfEntry(
  stage: Stage,
  { line, onSite, path = "/" }: { line: readonly Visitor[]; onSite: Visitor; path?: string },
): Promise<number[]> {
  const order: number[] = [];
  let leaving = onSite;
  while (order.length < line.length) {
    await leaving.call("leave");
    stage.world.pass(1_000);
    const next = await firstInside(line, order, path);
    order.push(next);
    leaving = line[next]!;
  }
  return order;
}

/** The visitor who is let in now, other than those who had their turn. */
async function firstInside(line: readonly Visitor[], done: readonly number[], path: string): Promise<number> {
  const inside: number[] = [];
  for (const [index, visitor] of line.entries())
    if (!done.includes(index) && (await visitor.isIn(path))) inside.push(index);
  assert.equal(inside.length, 1, `one visitor should be let in, not ${inside.length}`);
  return inside[0]!;
}

/** Puts changed settings in force. */
export function change(stage: Stage, room: RoomInput): Promise<void> {
  return stage.proxied.configure(stage.settings({ room }));
}

/** Every turn that is given from now on: the sequence and when. */
export function watchTurns(stage: Stage, room = "main"): { sequence: number; at: number }[] {
  const turns: { sequence: number; at: number }[] = [];
  stage.engine.subscribe({
    onTurns: (from, sequences) => {
      if (from === room)
        for (const sequence of sequences) turns.push({ sequence, at: stage.world.clock.now() });
    },
  });
  return turns;
}

export function assertSite(answer: Answer): void {
  assert.deepEqual([answer.status, answer.text.slice(0, 100)], [200, "the site"]);
}

/** A page that says why there is no place: its status and part of its text. */
export function assertProblemPage(answer: Answer, status: number, text: RegExp): void {
  assert.equal(answer.status, status);
  assert.match(answer.headers["content-type"] ?? "", /^text\/html/);
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.match(answer.text, text);
  assert.doesNotMatch(answer.text, /fairgate-data/);
}
