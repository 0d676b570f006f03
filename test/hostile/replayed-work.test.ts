import { testAttack } from "./held.ts";
import { replayedWork } from "./replayed-work.ts";

testAttack(replayedWork);
