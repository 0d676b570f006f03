import { testAttack } from "./held.ts";
import { wrongTokens } from "./wrong-tokens.ts";

testAttack(wrongTokens);
