/**
 * Every parser of untrusted text. Each must take time linear in the text (`parsers.test.ts`); what each costs
 * is printed by `npm run bench -- parsers`. A new parser is added here.
 *
 * Not here, since nothing of ours reads them: bodies of visitors' requests and Range go to the origin as they came, and
 * requests are framed by Node's own parser within `limits.headerBytes`.
 */
import { ANSWER_PARSERS } from "./answers.ts";
import { OPERATOR_PARSERS } from "./operator.ts";
import type { Parser } from "./parser.ts";
import { PAYMENT_PARSERS } from "./payments.ts";
import { PROOF_PARSERS } from "./proofs.ts";
import { REQUEST_PARSERS } from "./request.ts";
import { SHOP_PARSERS } from "./shop.ts";

export const PARSERS: readonly Parser[] = [
  ...REQUEST_PARSERS,
  ...PROOF_PARSERS,
  ...ANSWER_PARSERS,
  ...OPERATOR_PARSERS,
  ...PAYMENT_PARSERS,
  ...SHOP_PARSERS,
];
