/** `fairgate keys new`: a secret nobody can guess, on standard output and nowhere else. */
import { randomBytes } from "node:crypto";

const SECRET_BYTES = 32;

export function newSecret(): void {
  process.stdout.write(`${randomBytes(SECRET_BYTES).toString("base64url")}\n`);
}
