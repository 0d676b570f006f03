/**
 * Binding: a token that only the browser or the network it was given to may use. The token carries 32 bits, two that
 * say what it is bound to and thirty of a keyed hash of that, so a stolen token tells neither the browser's name nor
 * the address it would need.
 *
 * What a token is bound to is read from the token, not from the settings: a visitor who got theirs under other settings
 * keeps their place when these change. And keys of previous secrets still count, as they do for signatures.
 */
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { AbuseSettings } from "../../config/abuse-schema.ts";
import { whereabouts } from "../../sockets/whereabouts.ts";
import { Keyring } from "../tokens/keyring.ts";

export type BindMode = AbuseSettings["bindTickets"];

/** The sender of a request, as far as a token can be bound to them. */
export interface Sender {
  readonly userAgent: string | undefined;
  readonly address: string;
}

/** A token that is bound to nothing. */
export const UNBOUND = 0;
/** More of a User-Agent than this is not looked at. */
const USER_AGENT_CHARACTERS_MAX = 1_024;
const HASH_BITS = 30;
const PURPOSE = "ticket binding";
/** By the two bits that stand for them. */
const MODES: readonly BindMode[] = ["none", "userAgent", "network"];

/** What a token given to this sender is bound by; never `UNBOUND` unless the mode is none. */
export function bindingOf(mode: BindMode, sender: Sender, key: KeyObject): number {
  if (mode === "none") return UNBOUND;
  const about = mode === "userAgent" ? userAgentOf(sender) : whereabouts(sender.address).network;
  const hashed = createHmac("sha256", key).update(`${mode} ${about}`).digest().readUInt32BE(0);
  return ((MODES.indexOf(mode) << HASH_BITS) | (hashed >>> (32 - HASH_BITS))) >>> 0;
}

export class Binding {
  readonly #mode: BindMode;
  readonly #keys: readonly KeyObject[];

  constructor(mode: BindMode, secrets: { secret: string; previousSecrets: readonly string[] }) {
    this.#mode = mode;
    const bySecret = mode === "none" ? [] : [secrets.secret, ...secrets.previousSecrets];
    this.#keys = bySecret.map((secret) =>
      createSecretKey(new Keyring({ secret, previousSecrets: [] }).derive(PURPOSE)),
    );
  }

  /** False: nothing is bound here, and nobody need say who they are. */
  get isOn(): boolean {
    return this.#mode !== "none";
  }

  /** The binding of a token that this sender is given now. */
  of(sender: Sender): number {
    return this.isOn ? bindingOf(this.#mode, sender, this.#keys[0]!) : UNBOUND;
  }

  /** Whether a token with this binding is this sender's. */
  isOwn(binding: number, sender: Sender): boolean {
    if (!this.isOn || binding === UNBOUND) return true;
    const mode = MODES[binding >>> HASH_BITS] ?? "none";
    return mode !== "none" && this.#keys.some((key) => bindingOf(mode, sender, key) === binding);
  }
}

function userAgentOf({ userAgent = "" }: Sender): string {
  return userAgent.slice(0, USER_AGENT_CHARACTERS_MAX);
}
