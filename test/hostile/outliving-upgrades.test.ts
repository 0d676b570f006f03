import { testAttack } from "./held.ts";
import { outlivingUpgrades } from "./outliving-upgrades.ts";

testAttack(outlivingUpgrades);
