/** One attack as a process of its own: `node attacker.ts NAME SCALE TARGET`. Prints its result as JSON. */
import type { Scale, Target } from "./attack.ts";
import { ATTACKS } from "./attacks.ts";

const [name, scale, target] = process.argv.slice(2) as [string, Scale, string];
const attack = ATTACKS.find((one) => one.name === name);
if (!attack) throw new Error(`there is no attack "${name}"`);
const gain = await attack.run(JSON.parse(target) as Target, scale);
process.stdout.write(`${JSON.stringify(gain)}\n`, () => process.exit(0));
