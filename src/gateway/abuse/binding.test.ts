import assert from "node:assert/strict";
import { createSecretKey } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { Binding, type BindMode, bindingOf, type Sender, UNBOUND } from "./binding.ts";

const OLD = "the old secret, thirty-two characters";
const NEW = "the new secret, thirty-two characters";
const key = createSecretKey(Buffer.alloc(32, 7));
const secrets = { secret: OLD, previousSecrets: [] };
const at = (userAgent: string | undefined, address: string): Sender => ({ userAgent, address });
const home = at("Mozilla/5.0 (X11) Firefox/150.0", "203.0.113.7");
const anySender = fc.record({
  userAgent: fc.option(fc.string({ unit: "binary", maxLength: 2_000 }), { nil: undefined }),
  address: fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()),
});
const bound = fc.constantFrom<BindMode>("userAgent", "network");

test("a binding is 32 bits, and nothing only where nothing is bound", () => {
  fc.assert(
    fc.property(bound, anySender, (mode, sender) => {
      const binding = bindingOf(mode, sender, key);
      return Number.isInteger(binding) && binding > UNBOUND && binding <= 0xffff_ffff;
    }),
  );
  assert.equal(bindingOf("none", home, key), UNBOUND);
});

test("the visitor who got a token may use it, again and again", () => {
  fc.assert(
    fc.property(bound, anySender, (mode, sender) => {
      const binding = new Binding(mode, secrets);
      const value = binding.of(sender);
      return binding.isOwn(value, sender) && binding.isOwn(value, { ...sender });
    }),
  );
});

test("bound to a browser, a token moves between networks and not between browsers", () => {
  const binding = new Binding("userAgent", secrets);
  const value = binding.of(home);
  assert.ok(binding.isOwn(value, { ...home, address: "2001:db8::1" }));
  for (const other of ["Mozilla/5.0 (X11) Firefox/150.1", "", undefined, home.userAgent!.toLowerCase()])
    assert.equal(binding.isOwn(value, { ...home, userAgent: other }), false, String(other));
});

test("bound to a network, a token moves between browsers and inside the network", () => {
  const binding = new Binding("network", secrets);
  const value = binding.of(home);
  assert.ok(binding.isOwn(value, at("curl/9", "203.0.113.200")));
  assert.equal(binding.isOwn(value, { ...home, address: "203.0.114.7" }), false);
  const six = binding.of(at("", "2001:db8:1::5"));
  assert.ok(binding.isOwn(six, at("", "2001:db8:1:ffff::9")));
  assert.equal(binding.isOwn(six, at("", "2001:db8:2::5")), false);
});

test("a change of the setting takes no place away: what a token is bound to is read from it", () => {
  const [byBrowser, byNetwork, off] = (["userAgent", "network", "none"] as const).map(
    (mode) => new Binding(mode, secrets),
  ) as [Binding, Binding, Binding];
  assert.ok(byNetwork.isOwn(byBrowser.of(home), home));
  assert.ok(byNetwork.isOwn(off.of(home), home));
  assert.equal(byNetwork.isOwn(byBrowser.of(home), { ...home, userAgent: "curl/9" }), false);
  assert.ok(off.isOwn(byBrowser.of(home), at("curl/9", "198.51.100.1")));
});

test("a new secret in front of the old one keeps everyone's binding", () => {
  const value = new Binding("userAgent", secrets).of(home);
  const renewed = new Binding("userAgent", { secret: NEW, previousSecrets: [OLD] });
  assert.ok(renewed.isOwn(value, home));
  assert.notEqual(renewed.of(home), value);
  assert.equal(renewed.isOwn(value, { ...home, userAgent: "curl/9" }), false);
  assert.equal(new Binding("userAgent", { secret: NEW, previousSecrets: [] }).isOwn(value, home), false);
});

test("a binding cannot be made without the secret, and says nothing about another's", () => {
  const other = createSecretKey(Buffer.alloc(32, 8));
  assert.notEqual(bindingOf("network", home, key), bindingOf("network", home, other));
});

test("no number that a token could carry makes checking throw", () => {
  const binding = new Binding("network", secrets);
  fc.assert(
    fc.property(fc.nat({ max: 0xffff_ffff }), anySender, (value, sender) => {
      const isOwn = binding.isOwn(value, sender);
      return isOwn === (value === UNBOUND || value === binding.of(sender));
    }),
  );
  assert.equal(binding.isOwn(0xffff_ffff, home), false);
});
