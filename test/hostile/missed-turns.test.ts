import { testAttack } from "./held.ts";
import { missedTurns } from "./missed-turns.ts";

testAttack(missedTurns);
