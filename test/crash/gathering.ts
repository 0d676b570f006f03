/**
 * Visitors who gather for an event with a draw, before a gateway that may die at any instant. Each checks in when told to, as a
 * page does, repeats a request until there is an answer, enters when it is their turn, and keeps what they were told: their
 * receipt, and when they were admitted.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { GIVE_UP_MS } from "../../src/testing/cli/eventually.ts";
import { type Answer, type Asker, pause, type Question } from "./ask.ts";

const OWN = "/.fairgate/main";
const ASK_AGAIN_MS = 100;
const UNAVAILABLE = 503;

/** A visitor who gathered, or came later. */
export interface Gathered {
  /** When they asked for a place, and when the answer came. */
  readonly askedAt: number;
  readonly answeredAt: number;
  cookie: string;
  /** Their name at the site, once they were there. */
  visitor: string | null;
  admittedAt: number;
  /** They no longer check in: they try to enter. */
  isEntering: boolean;
  /** Their check-ins; settles when these end. */
  stay: Promise<void>;
}

export interface Receipt {
  readonly ticket: string;
  readonly place: number;
  readonly of: number;
  readonly seedHash: string;
  readonly seed: string;
}

export class Gathering {
  readonly all: Gathered[] = [];
  readonly #asker: Asker;

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  /** This many join at once. Those who got no answer because the gateway died are dropped: they know of no place. */
  async join(count: number): Promise<Gathered[]> {
    const answers = Array.from({ length: count }, () =>
      this.#asker.ask({ method: "POST", path: `${OWN}/join` }),
    );
    const placed = (await Promise.all(answers)).filter((answer) => answer?.json.status === "waiting");
    const gathered = placed.map((answer): Gathered => {
      const { askedAt, at, cookie } = answer!;
      const life = { visitor: null, admittedAt: 0, isEntering: false, stay: Promise.resolve() };
      const guest = { askedAt, answeredAt: at, cookie: cookie!, ...life };
      guest.stay = this.#stay(guest, answer!.json);
      return guest;
    });
    this.all.push(...gathered);
    return gathered;
  }

  /** Everyone enters, each as soon as it is their turn. */
  async enter(guests: readonly Gathered[]): Promise<void> {
    await Promise.all(guests.map((guest) => this.#enterOne(guest)));
  }

  async receiptOf(guest: Gathered): Promise<Receipt | null> {
    const answer = await this.#insist(guest, { method: "GET", path: `${OWN}/receipt` });
    return answer.status === 200 ? (answer.json as unknown as Receipt) : null;
  }

  /** Comes back whenever told to. A gateway that lost these visitors waits that long before it draws. */
  async #stay(guest: Gathered, joined: Answer["json"]): Promise<void> {
    for (let json = joined; ; ) {
      const backAt = Date.now() + Number(json.nextCheckInMs ?? ASK_AGAIN_MS);
      while (!guest.isEntering && Date.now() < backAt) await pause(ASK_AGAIN_MS);
      if (guest.isEntering) return;
      json = (await this.#try(guest, { method: "POST", path: `${OWN}/check-in` }))?.json ?? {};
    }
  }

  async #enterOne(guest: Gathered): Promise<void> {
    guest.isEntering = true;
    await guest.stay;
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (;;) {
      const { json } = await this.#insist(guest, { method: "POST", path: `${OWN}/enter` });
      if (json.status === "entered") break;
      assert.ok(json.status === "waiting" || json.status === "admitted", JSON.stringify(json));
      assert.ok(Date.now() < giveUpAt, "somebody is never admitted");
      await pause(ASK_AGAIN_MS);
    }
    const { json } = await this.#insist(guest, { method: "GET", path: "/" });
    assert.equal(json.site, true);
    guest.visitor = json.visitor as string;
    guest.admittedAt = json.admittedAt as number;
  }

  /** Asks until there is an answer. */
  async #insist(guest: Gathered, question: Question): Promise<Answer> {
    const giveUpAt = Date.now() + GIVE_UP_MS;
    for (;;) {
      const answer = await this.#try(guest, question);
      if (answer) return answer;
      assert.ok(Date.now() < giveUpAt, "the gateway stays away");
      await pause(ASK_AGAIN_MS);
    }
  }

  /** Null when there is no answer now. */
  async #try(guest: Gathered, question: Question): Promise<Answer | null> {
    const answer = await this.#asker.ask({ ...question, headers: { cookie: guest.cookie } });
    if (!answer || answer.status === UNAVAILABLE) return null;
    if (answer.cookie) guest.cookie = answer.cookie;
    return answer;
  }

  /** Stops all check-ins. */
  [Symbol.dispose](): void {
    for (const guest of this.all) guest.isEntering = true;
  }
}

/** The ids in the order of the draw: by rising SHA-256 of the seed's bytes followed by the id's. */
export function drawnOrder(seed: string, ids: readonly string[]): string[] {
  const keyed = ids.map((id) => ({ id, key: sha256(seed + id) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ id }) => id);
}

export function sha256(hex: string): string {
  return createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");
}
