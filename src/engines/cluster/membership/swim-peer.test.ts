import assert from "node:assert/strict";
import { test } from "node:test";
import { SwimPeer } from "./swim-peer.ts";

test("news of an incarnation that the peer has left behind says nothing", () => {
  const peer = new SwimPeer("a");
  assert.ok(peer.learnAlive(4));
  assert.equal(peer.learnSuspect(3, 100), false);
  assert.equal(peer.learnAlive(4), false);
  assert.deepEqual(peer.news, { peer: "a", incarnation: 4, is: "alive" });
  assert.equal(peer.ownNews, null);
});

test("of two equal incarnations the suspicion holds, until the peer is cleared; then repeating it does nothing", () => {
  const peer = new SwimPeer("a");
  assert.ok(peer.learnSuspect(0, 100));
  assert.equal(peer.deadAt, 100);
  assert.equal(peer.learnAlive(0), false);
  peer.clear();
  assert.equal(peer.is, "alive");
  assert.equal(peer.deadAt, Number.POSITIVE_INFINITY);
  assert.equal(peer.learnSuspect(0, 200), false);
  assert.deepEqual(peer.ownNews, { peer: "a", incarnation: 0, is: "suspect" });
  assert.ok(peer.learnSuspect(1, 300));
  assert.equal(peer.deadAt, 300);
});

test("a suspect is spared as much as asked, and at least for a while; others are not touched", () => {
  const peer = new SwimPeer("a");
  peer.spare({ moreMs: 10, leastAt: 100 });
  assert.equal(peer.deadAt, Number.POSITIVE_INFINITY);
  peer.suspect(100);
  peer.spare({ moreMs: 10, leastAt: 50 });
  assert.equal(peer.deadAt, 110);
  peer.spare({ moreMs: 10, leastAt: 500 });
  assert.equal(peer.deadAt, 500);
});

test("the ways are those of the last question, none when the peer answered it, before or after", () => {
  const peer = new SwimPeer("a");
  peer.ask(1);
  for (const way of ["b", "c", "b"]) peer.answerThrough(way);
  assert.deepEqual(peer.ways, ["c", "b"]);
  peer.ask(2);
  peer.answerThrough("d");
  assert.deepEqual(peer.ways, ["d"]);
  peer.answer();
  assert.deepEqual([peer.isDirect, peer.ways], [true, []]);
  peer.ask(3);
  peer.answer();
  peer.answerThrough("b");
  assert.deepEqual([peer.isDirect, peer.ways], [true, []]);
});
