import { testAttack } from "./held.ts";
import { silentConnections } from "./silent-connections.ts";

testAttack(silentConnections);
