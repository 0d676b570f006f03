/**
 * The way between visitors and gateways. It takes time in both directions, may lose the request or the answer, finds no process
 * where one is down, and gives up when no answer comes. Each request throws the visitor's own dice equally often, whatever
 * becomes of it. All visitors can be held back for a while, so that the cluster can be seen at rest.
 */
import { between, type Dice, type Range } from "./dice.ts";
import type { EventLoop } from "./event-loop.ts";
import type { GatewayReply, SimGateway, SimRequest } from "./gateway.ts";
import type { Station } from "./station.ts";

/** Without an answer for this long a visitor asks again. */
export const ANSWER_MAX_MS = 6_000;
const RELEASE_OVER_MS = 1_000;

/** `no answer`: it was lost, or took too long. `not there`: the connection was refused. */
export type Reply = GatewayReply | { readonly kind: "no answer" | "not there" };

export interface VisitorQuestion {
  readonly visitor: number;
  readonly dice: Dice;
  /** Index of the station that is asked. */
  readonly station: number;
  readonly request: SimRequest;
  reply(reply: Reply): void;
}

export interface VisitorLinkOptions {
  readonly loop: EventLoop;
  readonly gateway: SimGateway;
  readonly delayMs: Range;
  station(index: number): Station;
}

export class VisitorLink {
  /** The share of requests, and of answers, that are lost. */
  loss = 0;
  readonly #options: VisitorLinkOptions;
  #held: VisitorQuestion[] | null = null;

  constructor(options: VisitorLinkOptions) {
    this.#options = options;
  }

  ask(question: VisitorQuestion): void {
    if (this.#held) {
      this.#held.push(question);
      return;
    }
    const { loop, delayMs } = this.#options;
    const { dice } = question;
    const upMs = between(dice, delayMs);
    const downMs = between(dice, delayMs);
    const isQuestionLost = dice() < this.loss;
    const isAnswerLost = dice() < this.loss;
    const call = new Call(question, { loop, downMs, isAnswerLost });
    if (isQuestionLost) call.expectNoAnswer();
    else loop.after(upMs, () => this.#arrive(call));
  }

  /** Holds all requests back. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const question of held)
      this.#options.loop.after(question.dice() * RELEASE_OVER_MS, () => this.ask(question));
  }

  #arrive(call: Call): void {
    const { visitor, request } = call.question;
    const station = this.#options.station(call.question.station);
    if (!station.isOpen) return call.answer({ kind: "not there" });
    station.whenAwake(() =>
      this.#options.gateway.take({ visitor, station, request, reply: (reply) => call.answer(reply) }),
    );
    if (!call.isAnswered) call.expectNoAnswer();
  }
}

class Call {
  readonly question: VisitorQuestion;
  isAnswered = false;
  readonly #askedAt: number;
  readonly #fate: { loop: EventLoop; downMs: number; isAnswerLost: boolean };
  #isOver = false;

  constructor(question: VisitorQuestion, fate: { loop: EventLoop; downMs: number; isAnswerLost: boolean }) {
    this.question = question;
    this.#fate = fate;
    this.#askedAt = fate.loop.time;
  }

  answer(reply: Reply): void {
    const { loop, downMs, isAnswerLost } = this.#fate;
    this.isAnswered = true;
    if (isAnswerLost) this.expectNoAnswer();
    else loop.after(downMs, () => this.#end(reply));
  }

  /** The visitor waits until the timeout, unless an answer comes first. */
  expectNoAnswer(): void {
    this.#fate.loop.at(this.#askedAt + ANSWER_MAX_MS, () => this.#end({ kind: "no answer" }));
  }

  #end(reply: Reply): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.question.reply(reply);
  }
}
