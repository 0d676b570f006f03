#!/usr/bin/env node
/** The program `fairgate`. A Node that is too old gets as far as this file, and says so. */
import("../needs-node.ts").then(
  () => import("./command-line.ts"),
  ({ message }: Error) => {
    console.error(message);
    process.exitCode = 2;
  },
);
