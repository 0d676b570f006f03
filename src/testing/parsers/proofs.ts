/** Parsers of visitors' proofs: tickets, passes, slips, work, codes and JWTs. */
import { laneMembersSchema } from "../../config/lane-schema.ts";
import { readSlip } from "../../gateway/abuse/slip.ts";
import { isSolved } from "../../gateway/abuse/work.ts";
import { codeKeys, readCode } from "../../gateway/lanes/code.ts";
import { createJwtCheck } from "../../gateway/lanes/jwt-check.ts";
import { Keyring } from "../../gateway/tokens/keyring.ts";
import { readToken } from "../../gateway/tokens/token.ts";
import { again, type Parser } from "./parser.ts";

const secrets = { secret: "a secret of at least thirty-two characters", previousSecrets: [] };
const keyring = new Keyring(secrets);
const reading = { room: "main", keyring, now: Date.UTC(2026, 5, 1) };
const keys = codeKeys("main", secrets);
const { jwt } = laneMembersSchema.parse({
  jwt: { claim: "tier", values: ["gold"], secretVariable: "SHOP_SECRET" },
});

export const PROOF_PARSERS: readonly Parser[] = [
  { name: "ticket or pass", read: (text) => readToken(text, reading), worst: [again("AQ"), again("Ag")] },
  { name: "slip", read: (text) => readSlip(text, reading), worst: [again("A", { before: "AgM" })] },
  { name: "work", read: (text) => isSolved("challenge", 0, text), worst: [again("9"), again("0")] },
  { name: "lane code", read: (text) => readCode(text, { keys, now: 0 }), worst: [again("AQ"), again("-_")] },
  {
    name: "JWT",
    read: (text) => jwtCheck.check(text, nextHour()),
    worst: [again("a."), again("a", { before: "a.a." }), again("e30.", { after: "e30" }), again("a-")],
  },
];

const jwtCheck = createJwtCheck(jwt!, {
  secret: secrets.secret,
  keySets: { at: () => () => Promise.reject(new Error("there are none")) },
});

let hours = 0;

/** Later each time than any cache lasts. */
function nextHour(): number {
  return reading.now + ++hours * 3_600_000;
}
