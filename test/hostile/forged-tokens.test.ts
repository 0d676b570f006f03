import { forgedTokens } from "./forged-tokens.ts";
import { testAttack } from "./held.ts";

testAttack(forgedTokens);
