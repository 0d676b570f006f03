import { testAttack } from "./held.ts";
import { siblingActs } from "./sibling-acts.ts";

testAttack(siblingActs);
