/**
 * Binding: a token that only the browser or the network that it was given to may use. The token carries 32 bits: two say what it
 * is bound to, thirty are of a keyed hash of that. So a stolen token reveals neither the user agent nor the address that it
 * needs.
 *
 * What a token is bound to is read from the token, not from the settings, so visitors keep their places when the settings
 * change. Keys of previous secrets still count, as they do for signatures.
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
/** A longer User-Agent is cut off here. */
const USER_AGENT_CHARACTERS_MAX = 1_024;
const HASH_BITS = 30;
const PURPOSE = "ticket binding";
/** By the two bits for each mode. */
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

  /** False: no token is bound here, so the sender does not matter. */
  get isOn(): boolean {
    return this.#mode !== "none";
  }

  /** The binding of a token given to this sender now. */
  of(sender: Sender): number {
    return this.isOn ? bindingOf(this.#mode, sender, this.#keys[0]!) : UNBOUND;
  }

  /** True when a token with this binding may be used by this sender. */
  isOwn(binding: number, sender: Sender): boolean {
    if (!this.isOn || binding === UNBOUND) return true;
    const mode = MODES[binding >>> HASH_BITS] ?? "none";
    return mode !== "none" && this.#keys.some((key) => bindingOf(mode, sender, key) === binding);
  }
}

function userAgentOf({ userAgent = "" }: Sender): string {
  return userAgent.slice(0, USER_AGENT_CHARACTERS_MAX);
}
