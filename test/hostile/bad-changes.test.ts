import { badChanges } from "./bad-changes.ts";
import { testAttack } from "./held.ts";

testAttack(badChanges);
