/**
 * What the shop asks of its payment provider (capture, void, refund): kept in the outbox until the provider has done it. The owner
 * stores a record in the same write as the change of the book that it follows from.
 *
 * There is one capture, one void and one refund for each attempt at most, so their ids need no counter, and a second event that
 * says the same does not ask twice.
 */
import type { World } from "../../core/world.ts";
import type { KeyValues } from "../../durable/storage.ts";
import { type Attempted, Outbox, type OutboxRecord, type RetryPlan } from "./outbox.ts";
import { idempotencyKey, type PaymentAsk, type PaymentProvider } from "./providers/provider.ts";
import type { OutgoingSend } from "./send.ts";

/** Over a day at least: half a second, a second and so on to an hour, and then forty minutes or so each. */
const PAYMENT_RETRIES: RetryPlan = { firstMs: 1_000, mostMs: 3_600_000, attemptsMax: 50 };
const UNDER_WAY_MAX = 8;
/** Far beyond what a shop sells in a day. */
const WAITING_MAX = 1_000_000;
/** A request that was given up may be someone's money. */
const DEAD_MAX = 100_000;
const PREFIX = "outbox/";

export interface PaymentAskParts {
  readonly provider: PaymentProvider;
  readonly storage: KeyValues;
  readonly world: Pick<World, "clock" | "random" | "log">;
  readonly send: OutgoingSend;
  wakeAt(at: number): void;
}

export type PaymentAsks = Outbox<PaymentAsk>;

/** True for the key of a record of these. */
export function isAskKey(key: string): boolean {
  return key.startsWith(PREFIX);
}

export function openPaymentAsks(parts: PaymentAskParts): Promise<PaymentAsks> {
  const { storage, world, wakeAt } = parts;
  return Outbox.open<PaymentAsk>({
    ...{ storage, world, prefix: PREFIX, plan: PAYMENT_RETRIES },
    underWayMax: UNDER_WAY_MAX,
    waitingMax: WAITING_MAX,
    deadMax: DEAD_MAX,
    attempt: (record) => attempt(parts, record),
    wakeAt,
  });
}

/** The records for what the book wants, to be stored with its change. */
export function askRecords(
  asks: PaymentAsks,
  ask: Omit<PaymentAsk, "round">,
): Record<string, OutboxRecord<PaymentAsk>> {
  const first = { ...ask, round: 0 };
  return asks.record(idempotencyKey(first), first);
}

async function attempt(
  { provider, send, world }: PaymentAskParts,
  { work: ask }: OutboxRecord<PaymentAsk>,
): Promise<Attempted<PaymentAsk>> {
  const answer = await send(provider.request(ask, world.clock.now()));
  const judged = provider.judge(ask, answer);
  if (judged.kind === "done") return judged;
  if (judged.kind === "refused") return { kind: "refused", problem: judged.reason };
  return {
    kind: "again",
    problem: `HTTP ${answer.status}`,
    afterMs: answer.retryAfterMs ?? 0,
    ...(judged.isNewRound && { work: { ...ask, round: ask.round + 1 } }),
  };
}
