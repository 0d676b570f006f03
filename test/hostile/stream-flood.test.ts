import { testAttack } from "./held.ts";
import { streamFlood } from "./stream-flood.ts";

testAttack(streamFlood);
