import { greedyRequests } from "./greedy-requests.ts";
import { testAttack } from "./held.ts";

testAttack(greedyRequests);
