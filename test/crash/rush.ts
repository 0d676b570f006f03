/**
 * A rush into one kill: a great many visitors come straight in and half of them leave at once, so that at any instant passes and
 * leaves are on their way to the disk. After the restart every pass that was received is valid and every leave that was
 * acknowledged holds; what was still on its way may be either.
 */
import { eventually } from "../../src/testing/cli/eventually.ts";
import { Control, ownFolder, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { type Answer, Asker, pause } from "./ask.ts";
import { Books, type Violation } from "./books.ts";
import { Gate } from "./gate.ts";
import { GuestBook } from "./guest-book.ts";

const TERMS = { capacity: 100_000, sessionMs: 300_000, lapseAfterMs: 60_000 };
const ROOM = { totalActiveUsers: TERMS.capacity, sessionDuration: `${TERMS.sessionMs}ms` };
const OWN = "/.fairgate/main";
/** "Try again later": the disk took too long. */
const UNAVAILABLE = 503;

export interface RushOutcome {
  readonly passes: number;
  readonly left: number;
  /** Requests without an answer: on their way when the gateway was killed. */
  readonly underWay: number;
  readonly restartMs: number;
  readonly violations: readonly Violation[];
}

interface Rusher {
  readonly guest: number;
  readonly cookie: string;
  state: "on site" | "leaving" | "left";
}

export async function rush(plan: {
  /** Visitors who ask at the same time. */
  readonly atOnce: number;
  /** Counted from when somebody has left and somebody stays, however slow the machine is. */
  readonly killAfterMs: number;
  readonly keepsData: boolean;
  readonly through?: readonly string[];
}): Promise<RushOutcome> {
  using data = ownFolder();
  await using site = await GuestBook.open();
  const dataFolder = plan.keepsData ? data.path : null;
  await using gate = await Gate.make({ origin: site.address, room: ROOM, dataFolder });
  const { through = [] } = plan;
  await gate.start({ through });
  const books = new Books(TERMS);
  using asker = new Asker(gate.address, plan.atOnce);
  const post = (endpoint: string, cookie = "") =>
    asker.ask({ method: "POST", path: `${OWN}/${endpoint}`, headers: cookie ? { cookie } : {} });
  const came: Rusher[] = [];
  let guests = 0;
  let underWay = 0;

  const noteEntered = (guest: number, { askedAt, at, json }: Answer) =>
    books.note({ kind: "entered", guest, askedAt, at, expiresInMs: Number(json.expiresInMs) });
  /** Visitors come and go one after the other, until there is no answer. */
  const comeAndGo = async () => {
    for (;;) {
      const guest = ++guests;
      const joined = await post("join");
      if (joined?.status === UNAVAILABLE) continue;
      if (!joined?.cookie) break;
      noteEntered(guest, joined);
      const rusher: Rusher = { guest, cookie: joined.cookie, state: "on site" };
      came.push(rusher);
      if (guest % 2 === 0) continue;
      rusher.state = "leaving";
      books.note({ kind: "leaving", guest, at: Date.now() });
      const left = await post("leave", joined.cookie);
      if (left?.status === UNAVAILABLE) continue;
      if (left?.json.status !== "left") break;
      rusher.state = "left";
      books.note({ kind: "left", guest, at: left.at, address: left.address });
    }
    underWay++;
  };
  const check = async ({ guest, cookie, state }: Rusher) => {
    if (state === "leaving") return;
    const answer = await post("check-in", cookie);
    if (!answer) throw new Error(`no answer after the restart; it printed:\n${gate.printed}`);
    const isGood = answer.json.status === "entered";
    const { askedAt, at, text: words } = answer;
    if (state === "left") books.note({ kind: "replayed", guest, at, what: "pass", isTaken: isGood });
    else if (isGood) noteEntered(guest, answer);
    else books.note({ kind: "turned away", guest, askedAt, at, words });
  };

  const rushing = Promise.all(Array.from({ length: plan.atOnce }, comeAndGo));
  const someAre = (wanted: Rusher["state"]) => came.some(({ state }) => state === wanted);
  await eventually("somebody has left, and somebody stays", () => someAre("left") && someAre("on site"));
  await pause(plan.killAfterMs);
  await gate.end("SIGKILL");
  books.note({ kind: "killed", at: Date.now() });
  await rushing;
  const restartMs = await gate.start({ through });
  const askedAt = Date.now();
  const { onSite, admitted } = await new Control(gate.controlAddress, TOKEN).counts();
  books.note({ kind: "counted", askedAt, at: Date.now(), onSite, admitted });
  const unchecked = came.values();
  const checkers = Array.from({ length: plan.atOnce }, async () => {
    for (const rusher of unchecked) await check(rusher);
  });
  await Promise.all(checkers);
  const left = came.filter(({ state }) => state === "left").length;
  return { passes: came.length, left, underWay, restartMs, violations: books.close(Date.now()).violations };
}
