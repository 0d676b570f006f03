/**
 * Throws one sentence where Node is older than we need. Entry points import this first, and what an older Node cannot even
 * link (`node:sqlite`) only later; so nothing here is newer than modules themselves.
 */
const MAJOR_MIN = 24;

const { node } = process.versions;
if (Number.parseInt(node, 10) < MAJOR_MIN) {
  throw new Error(
    `Fairgate needs Node ${MAJOR_MIN} or newer, and this is Node ${node}: get a newer one from https://nodejs.org, or use Fairgate's single executable, which brings its own.`,
  );
}

export {};
