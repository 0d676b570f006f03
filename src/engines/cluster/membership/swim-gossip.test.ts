import assert from "node:assert/strict";
import { test } from "node:test";
import { NEWS_MAX, type SwimNews } from "./swim-body.ts";
import { Gossip } from "./swim-gossip.ts";

const suspect = (peer: string, incarnation = 0): SwimNews => ({ peer, incarnation, is: "suspect" });
const peersOf = (news: readonly SwimNews[]) => news.map(({ peer }) => peer);

test("the least told news goes first, each a limited number of times, with a limit for each message", () => {
  const gossip = new Gossip();
  for (let i = 0; i < NEWS_MAX + 2; i++) gossip.tell(suspect(`old-${i}`));
  gossip.take({ first: null, timesMax: 2 });
  gossip.tell(suspect("new"));
  const second = peersOf(gossip.take({ first: null, timesMax: 2 }));
  assert.equal(second.length, NEWS_MAX);
  assert.deepEqual(second.slice(0, 3), [`old-${NEWS_MAX}`, `old-${NEWS_MAX + 1}`, "new"]);
  const told = new Map<string, number>();
  for (let i = 0; i < 10; i++)
    for (const { peer } of gossip.take({ first: null, timesMax: 2 }))
      told.set(peer, (told.get(peer) ?? 0) + 1);
  assert.equal(told.get("new"), 1);
  assert.deepEqual(gossip.take({ first: null, timesMax: 2 }), []);
});

test("only the latest of a peer is told, and nothing of one that is forgotten", () => {
  const gossip = new Gossip();
  gossip.tell(suspect("a"));
  gossip.tell(suspect("a", 1));
  gossip.tell(suspect("b"));
  gossip.forget("b");
  assert.deepEqual(gossip.take({ first: null, timesMax: 9 }), [suspect("a", 1)]);
});

test("what a peer must hear goes first, and within the same limit", () => {
  const gossip = new Gossip();
  for (let i = 0; i < NEWS_MAX; i++) gossip.tell(suspect(`peer-${i}`));
  const taken = gossip.take({ first: suspect("peer-3", 5), timesMax: 9 });
  assert.deepEqual(taken[0], suspect("peer-3", 5));
  assert.equal(new Set(peersOf(taken)).size, NEWS_MAX);
  assert.deepEqual(gossip.take({ first: null, timesMax: 0 }), []);
});
