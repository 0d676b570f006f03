/**
 * The baseline: the queue of Holmström 2016, as plainly as it is described there. Sessions wait in a sorted set by the time they
 * came, and those who may be on the site are in a second one by the time their access ends; every step is one Redis command, and
 * each is awaited before the next.
 *
 *   from Holmström    Express with one route for every address (7.3); a session's id in a cookie (7.3.1); the two sorted
 *                     sets and the seven commands of appendix A; `addToQueue` (appendix D) and `grantAccessToMax`
 *                     (appendix E); the number ahead shown on every visit (7.4.1); a purge of what has run out (7.4.2)
 *   filled in here    which commands a visit takes and in what order: is there access (ZSCORE), if not, the rank (ZRANK), if
 *                     there is none, add (ZADD) and get the rank again (ZRANK)
 *   left out          everything that would only make it slower: the template (an answer is JSON), the store of express-session
 *                     (only its signed cookie is here), the meter of requests for each address (the queue is always on)
 */
import { createHmac, randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { createClient } from "@redis/client";
import express, { type Request, type Response } from "express";

const [url = "", accessMaxText = "1"] = process.argv.slice(2);
const QUEUE = "queue";
const ACCESS = "access";
const ACCESS_MS = 600_000;
/** "Periodically", says Holmström. */
const PERIOD_MS = 1_000;
const SECRET = "bench-secret-0123456789-abcdefghij";
const COOKIE = "connect.sid";
const accessMax = Number(accessMaxText);

const redis = await createClient({ url }).connect();

function addToQueue(sessionId: string): Promise<number> {
  return redis.zAdd(QUEUE, { score: Date.now(), value: sessionId });
}

function grantAccess(sessionIds: readonly string[]): Promise<number> {
  const score = Date.now() + ACCESS_MS;
  return redis.zAdd(
    ACCESS,
    sessionIds.map((value) => ({ score, value })),
  );
}

async function grantAccessToMax(): Promise<void> {
  const count = await redis.zCard(ACCESS);
  if (count >= accessMax) return;
  const sessionIds = await redis.zRange(QUEUE, 0, accessMax - count - 1);
  if (sessionIds.length === 0) return;
  await redis.zRem(QUEUE, sessionIds);
  await grantAccess(sessionIds);
}

async function visit(request: Request, response: Response): Promise<void> {
  const sessionId = session(request, response);
  if ((await redis.zScore(ACCESS, sessionId)) !== null) {
    response.json({ status: "entered" });
    return;
  }
  let ahead = await redis.zRank(QUEUE, sessionId);
  if (ahead === null) {
    await addToQueue(sessionId);
    ahead = await redis.zRank(QUEUE, sessionId);
  }
  response.json({ status: "waiting", ahead });
}

/** The id of a session, by the cookie as express-session has it; a new one for a visitor without a cookie. */
function session(request: Request, response: Response): string {
  const shown = new RegExp(`${COOKIE}=s%3A([^.;]+)\\.([^;]+)`).exec(request.headers.cookie ?? "");
  if (shown && decodeURIComponent(shown[2]!) === signature(shown[1]!)) return shown[1]!;
  const sessionId = randomBytes(24).toString("base64url");
  response.cookie(COOKIE, `s:${sessionId}.${signature(sessionId)}`, { httpOnly: true, path: "/" });
  return sessionId;
}

function signature(sessionId: string): string {
  return createHmac("sha256", SECRET).update(sessionId).digest("base64").replace(/=+$/, "");
}

const purge = () => redis.zRemRangeByScore(ACCESS, "-inf", Date.now());
setInterval(() => void purge().then(grantAccessToMax), PERIOD_MS);

// A site that is full, until the parent says otherwise.
const others = Array.from({ length: accessMax }, (_, n) => `other ${n}`);
await grantAccess(others);
process.on("disconnect", () => process.exit());
process.on("message", async (question: "letIn" | "spent") => {
  if (question === "letIn") {
    await redis.zRem(ACCESS, others);
    await grantAccessToMax();
  }
  process.send?.(process.cpuUsage());
});

const server = express()
  .get("/{*path}", visit)
  .listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
