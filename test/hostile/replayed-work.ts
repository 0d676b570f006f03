/**
 * A few proofs of work, done once and shown again and again in ways that give no place: as a picture, as an upgrade, and to a
 * room that is closed. If they counted as visitors joining, the work for everyone would become as hard as it can be.
 */
import { createHash } from "node:crypto";
import { ask, type HttpAnswer } from "../../src/visitor/ask.ts";
import type { Attack, Target } from "./attack.ts";

const SOLUTIONS = { small: 5, full: 20 } as const;
const REPLAYS = { small: 60, full: 5_000 } as const;
const EASIEST = 4;
const WORK = { proofOfWork: { easiest: EASIEST, hardest: 16, joinsPerSecond: 1 } };
const PICTURE = { accept: "image/*", "sec-fetch-dest": "image" };
const UPGRADE = { connection: "Upgrade", upgrade: "websocket" };

interface Work {
  readonly challenge: string;
  readonly bits: number;
}

export const replayedWork: Attack = {
  name: "replayed work",
  about: "drive everybody's proof of work to its hardest with a few that were done once",
  settings: {
    rooms: {
      main: { totalActiveUsers: 8, sessionDuration: "30m" },
      worked: { path: "/worked", totalActiveUsers: 1, queueAll: true, abuse: WORK },
      shut: { path: "/shut", totalActiveUsers: 1, closed: true, abuse: WORK },
    },
  },
  async run(target, scale) {
    const ways = [
      { room: "worked", path: "/worked/a.png", headers: PICTURE },
      { room: "worked", path: "/worked/live", headers: UPGRADE },
      { room: "shut", path: "/shut/", headers: {} },
    ];
    const examples: string[] = [];
    let attempts = 0;
    for (const { room, path, headers } of ways) {
      const proofs = [];
      for (let i = 0; i < SOLUTIONS[scale]; i++) proofs.push(solve(await firstContact(target, room)));
      for (let i = 0; i < REPLAYS[scale]; i++) {
        await Promise.all(proofs.map((proof) => ask(target, { path, headers: { ...headers, ...proof } })));
        attempts += proofs.length;
      }
      const { bits } = workIn(await firstContact(target, room));
      if (bits > EASIEST) examples.push(`${path}: a newcomer must find ${bits} bits instead of ${EASIEST}`);
    }
    return { attempts, through: examples.length, examples };
  },
};

function firstContact(target: Target, room: string): Promise<HttpAnswer> {
  return ask(target, { method: "POST", path: `/.fairgate/${room}/join` });
}

function workIn({ text }: HttpAnswer): Work {
  return (JSON.parse(text) as { work: Work }).work;
}

/** Headers with a slip and the work done for it. */
function solve(answer: HttpAnswer): Record<string, string> {
  const { challenge, bits } = workIn(answer);
  for (let n = 0; ; n++) {
    const digest = createHash("sha256").update(`${challenge}:${n}`).digest();
    if (Math.clz32(digest.readUInt32BE(0)) < bits) continue;
    return { cookie: answer.cookie ?? "", "fairgate-work": String(n) };
  }
}
