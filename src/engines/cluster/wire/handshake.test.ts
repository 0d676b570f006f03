import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { HELLO_BYTES_MAX } from "./frames.ts";
import {
  AcceptorHandshake,
  DiallerHandshake,
  NO_PEER,
  PROTOCOL_VERSION,
  type Step,
  secretKey,
  WRONG_SECRET,
} from "./handshake.ts";

const ANN = "10.0.0.1:7100";
const BEN = "10.0.0.2:7100";
const SECRET = "a secret of the whole cluster";

const dialler = (peer = BEN, secret: string | null = SECRET, self = ANN) =>
  new DiallerHandshake({ self, peer, secret: secretKey(secret), nonce: randomBytes(32) });
const acceptor = (self = BEN, secret: string | null = SECRET) =>
  new AcceptorHandshake({ self, secret: secretKey(secret), nonce: randomBytes(32) });

function frameOf(step: Step): Buffer {
  assert.ok(step.frame, JSON.stringify(step));
  return step.frame;
}

/** Both to their ends. */
function meet(ann: DiallerHandshake, ben: AcceptorHandshake): { ann: Step; ben: Step } {
  const proof = ann.receive(frameOf(ben.receive(ann.hello)));
  const welcome = ben.receive(frameOf(proof));
  return { ben: welcome, ann: welcome.frame ? ann.receive(welcome.frame) : proof };
}

function changed(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

test("two peers with the secret agree on who they are and on keys, which are new each time", () => {
  const once = meet(dialler(), acceptor());
  const again = meet(dialler(), acceptor());
  assert.ok(once.ann.kind === "agreed" && once.ben.kind === "agreed" && again.ann.kind === "agreed");
  assert.equal(once.ann.peer, BEN);
  assert.equal(once.ben.peer, ANN);
  assert.deepEqual(once.ann.keys, once.ben.keys);
  assert.notDeepEqual(once.ann.keys.messages, once.ann.keys.receipts);
  assert.notDeepEqual(once.ann.keys, again.ann.keys);
});

test("an address of any length fits into a hello", () => {
  const long = `${"h".repeat(249)}:65535`;
  assert.ok(dialler(long, SECRET, long.replace("h", "i")).hello.length < HELLO_BYTES_MAX);
  const { ann, ben } = meet(dialler(long), acceptor(long));
  assert.equal(ann.kind, "agreed");
  assert.ok(ben.frame!.length < HELLO_BYTES_MAX);
});

test("a dialler with another secret is refused, and has learned nothing that depends on the secret", () => {
  const { ben } = meet(dialler(BEN, "a guess"), acceptor());
  assert.deepEqual(ben, { kind: "refused", frame: null, text: WRONG_SECRET });
});

test("no secret is not the same as a secret", () => {
  assert.equal(meet(dialler(BEN, null), acceptor()).ben.kind, "refused");
  assert.equal(meet(dialler(BEN, null), acceptor(BEN, null)).ben.kind, "agreed");
});

test("an acceptor that accepts anything is refused by the dialler", () => {
  const ann = dialler();
  ann.receive(frameOf(acceptor(BEN, "a guess").receive(ann.hello)));
  const guess = Buffer.concat([randomBytes(32), Buffer.from(BEN)]);
  assert.deepEqual(ann.receive(guess), { kind: "refused", frame: null, text: WRONG_SECRET });
});

test("a recorded handshake is useless", () => {
  const [ann, ben] = [dialler(), acceptor()];
  const proof = frameOf(ann.receive(frameOf(ben.receive(ann.hello))));
  const welcome = frameOf(ben.receive(proof));
  const later = acceptor();
  later.receive(ann.hello);
  assert.equal(later.receive(proof).kind, "refused");
  const annLater = dialler();
  annLater.receive(frameOf(acceptor().receive(annLater.hello)));
  assert.equal(annLater.receive(welcome).kind, "refused");
});

test("a dialler's own words sent back to it prove nothing", () => {
  const ann = dialler();
  const proof = frameOf(ann.receive(frameOf(acceptor().receive(ann.hello))));
  assert.equal(ann.receive(proof).kind, "refused");
  assert.equal(ann.receive(Buffer.concat([proof, Buffer.from(BEN)])).kind, "refused");
});

test("a change of any bit on the way ends it on one side or the other", () => {
  fc.assert(
    fc.property(fc.constantFrom("hello", "challenge", "proof", "welcome"), fc.nat(), (which, at) => {
      const [ann, ben] = [dialler(), acceptor()];
      const pass = (name: string, frame: Buffer) =>
        name === which ? changed(frame, at % (frame.length * 8)) : frame;
      const challenge = ben.receive(pass("hello", ann.hello));
      if (challenge.kind === "refused") return;
      const proof = ann.receive(pass("challenge", challenge.frame!));
      if (proof.kind === "refused") return;
      const welcome = ben.receive(pass("proof", proof.frame!));
      if (welcome.kind === "refused") return;
      assert.equal(ann.receive(pass("welcome", welcome.frame!)).kind, "refused");
    }),
  );
});

test("a peer that is dialled under another address than its own says so, and both refuse", () => {
  const { ann, ben } = meet(dialler("localhost:7100"), acceptor(BEN));
  assert.ok(ann.kind === "refused" && ben.kind === "refused");
  assert.match(ann.text, /^says that its address is 10\.0\.0\.2:7100/);
  assert.match(ben.text, /^dials localhost:7100 and finds us, 10\.0\.0\.2:7100/);
});

test("a peer that uses our own address is refused", () => {
  const step = acceptor(ANN).receive(dialler(ANN, SECRET, ANN).hello);
  assert.deepEqual(step, { kind: "refused", frame: null, text: "uses our own address" });
});

test("both sides say which versions do not fit", () => {
  const hello = Buffer.from(dialler().hello);
  hello.writeUInt16BE(9, 4);
  const ben = acceptor().receive(hello);
  const challenge = frameOf(ben);
  const ours = `we speak ${PROTOCOL_VERSION}`;
  assert.ok(ben.kind === "refused" && ben.text.includes("version 9") && ben.text.includes(ours));
  assert.equal(challenge.readUInt16BE(4), PROTOCOL_VERSION);
  challenge.writeUInt16BE(9, 4);
  const ann = dialler().receive(challenge.subarray(0, 6));
  assert.ok(ann.kind === "refused" && ann.text.includes("version 9") && ann.text.includes(ours));
});

test("garbage is refused without a word, at every step", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const garbage = Buffer.from(bytes);
      assert.deepEqual(acceptor().receive(garbage), { kind: "refused", frame: null, text: NO_PEER });
      assert.deepEqual(dialler().receive(garbage), { kind: "refused", frame: null, text: NO_PEER });
      const ben = acceptor();
      ben.receive(dialler().hello);
      assert.deepEqual(ben.receive(garbage), { kind: "refused", frame: null, text: WRONG_SECRET });
    }),
  );
  const { hello } = dialler();
  for (let length = 0; length < hello.length; length++)
    assert.equal(acceptor().receive(hello.subarray(0, length)).kind, "refused");
  assert.equal(acceptor().receive(Buffer.concat([hello, Buffer.of(0)])).kind, "refused");
});
