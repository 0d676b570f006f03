import { controlFlood } from "./control-flood.ts";
import { testAttack } from "./held.ts";

testAttack(controlFlood);
