// Entry of every npm script: it needs a Node that can install the pinned one and start it. Syntax newer than modules comes
// after this.
const MAJOR_MIN = 20;

const { node } = process.versions;
if (Number.parseInt(node, 10) < MAJOR_MIN) {
  console.error(
    `Fairgate's npm scripts need Node ${MAJOR_MIN} or newer, and this is Node ${node}: get a newer one from https://nodejs.org.`,
  );
  process.exit(2);
}
if (process.argv[2] === "start")
  console.log("Opening the demo: a small shop, a crowd, and the line between them …");
import("./pinned-node.mjs");
