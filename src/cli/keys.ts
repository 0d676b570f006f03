/**
 * `fairgate keys new`: a secret nobody can guess. `fairgate keys webhook`: one in the form that webhooks have. `fairgate keys
 * origin`: the key with which an origin checks HS256 tokens. Each on standard output and nowhere else.
 */
import { randomBytes } from "node:crypto";
import { explain } from "../config/explain.ts";
import { SECRET_VARIABLE } from "../config/secrets.ts";
import { Keyring } from "../gateway/tokens/keyring.ts";
import { OriginTokens } from "../gateway/tokens/origin-token.ts";
import { readSettings } from "./read-settings.ts";

const SECRET_BYTES = 32;

export function newSecret(): void {
  process.stdout.write(`${randomBytes(SECRET_BYTES).toString("base64url")}\n`);
}

/** Prints a secret for Standard Webhooks, as providers and receivers take it. */
export function newWebhookSecret(): void {
  process.stdout.write(`whsec_${randomBytes(SECRET_BYTES).toString("base64")}\n`);
}

/** Prints the key in base64url, derived from the secret in the environment or in the settings. */
export function originKey(flags: { config?: string }): void {
  const secret = process.env[SECRET_VARIABLE] ?? secretOf(flags);
  if (!secret) return;
  const tokens = new OriginTokens(new Keyring({ secret, previousSecrets: [] }));
  process.stdout.write(`${tokens.sharedKey()}\n`);
}

function secretOf(flags: { config?: string }): string | null {
  const result = readSettings(flags);
  if (result.ok) return result.settings.secret;
  process.stderr.write(
    `${explain(result.problems)}\nSet ${SECRET_VARIABLE}, or name the settings file with --config.\n`,
  );
  process.exitCode = 2;
  return null;
}
