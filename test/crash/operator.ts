/**
 * The operator of the crash test: changes settings, pauses and opens, rotates keys and ends visits, all over the control address
 * and at any time; after each restart checks whether everything acknowledged is still in force.
 */
import { TOKEN } from "../../src/testing/cli/fairgate.ts";
import { type Answer, Asker, pause, type Question } from "./ask.ts";
import { type Books, CAPACITY, PAUSED } from "./books.ts";
import type { Crowd } from "./crowd.ts";

const EVERY_MS = 400;
const PAUSED_MS = 500;
const BACK_OFF_MS = 100;
const CAPACITY_STEPS_MAX = 3;
const SIGNING_KEY = "signing key";
const MESSAGE = "message";
const ROOM = "/rooms/main";

export class Operator {
  readonly #asker: Asker;
  readonly #books: Books;
  readonly #crowd: Crowd;
  readonly #fraction: () => number;
  readonly #work: Promise<void>;
  #capacity: number;
  #capacitySteps = 0;
  #messages = 0;
  #isWorking = true;
  #isOpen = true;

  constructor(parts: {
    address: string;
    books: Books;
    crowd: Crowd;
    capacity: number;
    fraction: () => number;
  }) {
    this.#asker = new Asker(parts.address, 4);
    this.#books = parts.books;
    this.#crowd = parts.crowd;
    this.#capacity = parts.capacity;
    this.#fraction = parts.fraction;
    this.#work = this.#goOn();
  }

  /** Records the gateway's own counts. */
  async count(): Promise<void> {
    const room = await this.#ask({ method: "GET", path: ROOM });
    if (room?.status === 200) this.#noteCounts(room);
  }

  /** Reads what is in force, which nobody else changes meanwhile. False when there was no answer. */
  async #look(): Promise<boolean> {
    const room = await this.#ask({ method: "GET", path: ROOM });
    const keys = await this.#ask({ method: "GET", path: "/keys" });
    if (room?.status !== 200 || keys?.status !== 200) return false;
    this.#noteCounts(room);
    const { settings } = room.json as unknown as RoomAnswer;
    for (const name of [PAUSED, MESSAGE, CAPACITY])
      this.#books.note({ kind: "found", at: room.at, name, value: String(settings[name]) });
    const signing = (keys.json as unknown as KeysAnswer).keys.find((key) => key.isSigning);
    this.#books.note({ kind: "found", at: keys.at, name: SIGNING_KEY, value: signing?.id ?? "none" });
    return true;
  }

  /** Ends the work, with the room open. */
  async finish(): Promise<void> {
    this.#isWorking = false;
    await this.#work;
    while (!(await this.#look())) await pause(BACK_OFF_MS);
    while (!(await this.#change({ [PAUSED]: false }))) await pause(BACK_OFF_MS);
  }

  close(): void {
    this.#isWorking = this.#isOpen = false;
    this.#asker.close();
  }

  #noteCounts(room: Answer): void {
    const { counts } = room.json as unknown as RoomAnswer;
    const { askedAt, at } = room;
    this.#books.note({ kind: "counted", askedAt, at, onSite: counts.onSite, admitted: counts.admitted });
  }

  async #goOn(): Promise<void> {
    while (this.#isWorking) {
      if (await this.#look()) await this.#doSomething();
      await pause(EVERY_MS * 2 * this.#fraction());
    }
  }

  #doSomething(): Promise<unknown> {
    const dice = this.#fraction();
    if (dice < 0.3) return this.#revoke();
    if (dice < 0.5) return this.#change({ [MESSAGE]: `message ${++this.#messages}` });
    if (dice < 0.65) return this.#rotate();
    if (dice < 0.75) return this.#makeRoom();
    return this.#pauseAWhile();
  }

  async #makeRoom(): Promise<void> {
    if (this.#capacitySteps++ >= CAPACITY_STEPS_MAX) return;
    await this.#change({ [CAPACITY]: ++this.#capacity });
  }

  async #pauseAWhile(): Promise<void> {
    await this.#change({ [PAUSED]: true });
    await pause(PAUSED_MS);
    while (!(await this.#look()) && this.#isWorking) await pause(BACK_OFF_MS);
    await this.#change({ [PAUSED]: false });
  }

  /** Changes one setting. False when there was no answer: it may or may not be in force. */
  async #change(change: Readonly<Record<string, string | number | boolean>>): Promise<boolean> {
    const [[name, wanted] = ["", ""]] = Object.entries(change);
    const value = String(wanted);
    this.#books.note({ kind: "wanted", at: Date.now(), name, value });
    const answer = await this.#ask({ method: "PATCH", path: ROOM, body: change });
    if (answer?.status !== 200) return false;
    this.#books.note({ kind: "granted", at: answer.at, name, value });
    return true;
  }

  async #rotate(): Promise<void> {
    this.#books.note({ kind: "wanted", at: Date.now(), name: SIGNING_KEY, value: null });
    const answer = await this.#ask({ method: "POST", path: "/keys/rotate" });
    if (answer?.status !== 200) return;
    this.#books.note({ kind: "granted", at: answer.at, name: SIGNING_KEY, value: String(answer.json.id) });
  }

  /** Ends a visit, and repeats the request until it is confirmed. */
  async #revoke(): Promise<void> {
    const guests = this.#crowd.onSite().filter((guest) => guest.revocation === "none");
    const guest = guests[Math.floor(this.#fraction() * guests.length)];
    if (!guest) return;
    guest.revocation = "asked";
    this.#books.note({ kind: "leaving", guest: guest.number, at: Date.now() });
    while (this.#isOpen) {
      const answer = await this.#ask({ method: "DELETE", path: `${ROOM}/sessions/${guest.visitor}` });
      if (answer?.status === 204 || answer?.status === 404) {
        guest.revocation = "done";
        this.#books.note({ kind: "left", guest: guest.number, at: answer.at, address: answer.address });
        return;
      }
      await pause(BACK_OFF_MS);
    }
  }

  #ask(question: Question): Promise<Answer | null> {
    return this.#asker.ask({ ...question, headers: { authorization: `Bearer ${TOKEN}` } });
  }
}

interface RoomAnswer {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly counts: { readonly onSite: number; readonly admitted: number };
}

interface KeysAnswer {
  readonly keys: readonly { readonly id: string; readonly isSigning: boolean }[];
}
