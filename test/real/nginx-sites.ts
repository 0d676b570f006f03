/**
 * Two sites of one nginx (`sites/nginx`): files with ranges, compression, a slow one and redirects; and PHP behind it
 * (`sites/php`), run by PHP-FPM. Both programs have a folder of their own and listen only there.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { NGINX, originProgram, PHP_FPM } from "../../scripts/origins.ts";
import { REAL } from "../../scripts/real-sites.ts";
import { Child } from "../../src/testing/cli/child.ts";
import { ownFolder } from "../../src/testing/cli/fairgate.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { listening, ready } from "./site.ts";

/** The content of the files: words that compress well, and bytes that do not. */
export const WORDS = "The quick brown fox jumps over the lazy dog.\n".repeat(2_000);
export const BYTES = noise(256 * 1_024);

export interface NginxSites extends AsyncDisposable {
  /** The address of the files. */
  readonly files: string;
  /** The address of the PHP pages. */
  readonly php: string;
  /** From now on `stream.php` sends the rest of its page. */
  finishStream(): void;
}

export async function openNginxSites(): Promise<NginxSites> {
  await using parts = new AsyncDisposableStack();
  const { path: folder } = parts.use(ownFolder());
  mkdirSync(join(folder, "files", "folder"), { recursive: true });
  const files = {
    "words.txt": WORDS,
    "noise.bin": BYTES,
    "slow.bin": BYTES,
    "folder/index.html": "A folder",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, "files", name), content);
  cpSync(join(REAL, "sites", "php"), join(folder, "php"), { recursive: true });
  await startPhp(parts, folder);
  const ports = { files: await freePort(), php: await freePort() };
  await startNginx(parts, folder, ports);
  const whole = parts.move();
  return {
    files: `http://127.0.0.1:${ports.files}`,
    php: `http://127.0.0.1:${ports.php}`,
    finishStream: () => writeFileSync(join(folder, "php", "go-on"), ""),
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

async function startNginx(
  parts: AsyncDisposableStack,
  folder: string,
  ports: { files: number; php: number },
): Promise<void> {
  const written = readFileSync(join(REAL, "sites", "nginx", "nginx.conf"), "utf8")
    .replace("FILES_PORT", String(ports.files))
    .replace("PHP_PORT", String(ports.php))
    .replace("PHP_SOCKET", socketIn(folder));
  writeFileSync(join(folder, "nginx.conf"), written);
  const child = parts.use(
    new Child(originProgram(NGINX), ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], { cwd: folder }),
  );
  for (const port of Object.values(ports)) await listening(child, `http://127.0.0.1:${port}`);
}

/** PHP-FPM, run by the user of the test. Its workers end with it only on a normal stop, not when it is killed. */
async function startPhp(parts: AsyncDisposableStack, folder: string): Promise<void> {
  mkdirSync(join(folder, "kept"));
  writeFileSync(join(folder, "fpm.conf"), fpmConf(folder));
  const asRoot = process.getuid?.() === 0 ? ["--allow-to-run-as-root"] : [];
  const child = new Child(originProgram(PHP_FPM), ["--fpm-config", join(folder, "fpm.conf"), ...asRoot]);
  parts.defer(async () => void (await child.end("SIGTERM")));
  await ready(child, "PHP-FPM listens", () => existsSync(socketIn(folder)));
}

function fpmConf(folder: string): string {
  return `[global]
    daemonize = no
    error_log = ${join(folder, "fpm.log")}
    [www]
    user = ${userInfo().username}
    listen = ${socketIn(folder)}
    pm = static
    pm.max_children = 3
    php_admin_value[session.save_path] = ${join(folder, "kept")}
    php_admin_value[upload_tmp_dir] = ${join(folder, "kept")}
    php_admin_value[upload_max_filesize] = 16M
    php_admin_value[post_max_size] = 16M
`.replaceAll(/^ +/gm, "");
}

const socketIn = (folder: string) => join(folder, "php.sock");

/** The same bytes each time, which do not compress. */
function noise(length: number): Buffer {
  const pieces: Buffer[] = [];
  for (let n = 0; n * 64 < length; n++) pieces.push(createHash("sha512").update(String(n)).digest());
  return Buffer.concat(pieces, length);
}
