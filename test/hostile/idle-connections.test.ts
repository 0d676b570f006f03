import { testAttack } from "./held.ts";
import { idleConnections } from "./idle-connections.ts";

testAttack(idleConnections);
