// Makes sure the pinned packages are installed, then hands over to the Node that is pinned as the npm package `node`,
// which runs the TypeScript task from source. It may itself be run by a Node as old as 20.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const nodeBinary = join(
  root,
  "node_modules",
  "node",
  "bin",
  process.platform === "win32" ? "node.exe" : "node",
);
const stamp = join(root, "node_modules", ".fairgate-lock");

/** The lock file's hash: when it changes, the packages are installed again. */
function lockHash() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

function isInstalled() {
  return existsSync(nodeBinary) && existsSync(stamp) && readFileSync(stamp, "utf8") === lockHash();
}

function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

function install() {
  console.log("Installing the pinned packages; that takes about a minute, and only the first time …");
  const status = run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--include=dev"]);
  if (status !== 0) {
    console.error("npm ci failed; the lines above say why. Nothing was started.");
    process.exit(status);
  }
  // Newer npm versions may hold back install scripts; the pinned Node needs its one.
  if (!existsSync(nodeBinary))
    run(process.execPath, [join("node_modules", "node", "installArchSpecificPackage.js")]);
  if (!existsSync(nodeBinary)) {
    console.error(
      "The pinned Node was not installed by npm (package `node`). Is this platform supported by it?",
    );
    process.exit(1);
  }
  writeFileSync(stamp, lockHash());
}

if (!isInstalled()) {
  rmSync(stamp, { force: true });
  install();
}
const child = spawn(nodeBinary, [join(root, "scripts", "task.ts"), ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    PATH: `${dirname(nodeBinary)}${process.platform === "win32" ? ";" : ":"}${process.env.PATH}`,
  },
});
// Ctrl-C reaches the whole group; the child decides when it is done.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => signal !== "SIGINT" && child.kill(signal));
// A killed npm ends its shell without a signal to us; a new parent process is the only sign of it.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), 1_000).unref();
child.on("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
