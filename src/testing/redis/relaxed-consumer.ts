/** A consumer to be killed: pops the items it is told to, prints the ids as JSON, and neither commits nor ends. */
import { openRelaxedQueue, type RelaxedQueueOptions } from "../../relaxed.ts";

const [options = "", count = ""] = process.argv.slice(2);
const queue = await openRelaxedQueue(JSON.parse(options) as RelaxedQueueOptions);
const popped = await queue.popMany(Number(count));
console.log(`popped ${JSON.stringify(popped.map(({ id }) => id))}`);
setInterval(() => {}, 60_000);
