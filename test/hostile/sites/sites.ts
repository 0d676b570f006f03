/**
 * Five real sites by different makers, each a process of its own with a folder of files, which guard the same paths (see
 * `node-sites.ts`). A path that one of them reads as guarded may be something else to another.
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { FLASK, NGINX, originProgram, PHP } from "../../../scripts/origins.ts";
import { Child } from "../../../src/testing/cli/child.ts";
import { ownFolder } from "../../../src/testing/cli/fairgate.ts";
import { freePort } from "../../../src/testing/free-port.ts";
import { SITE_WORDS } from "../site.ts";
import { GUARDED } from "./node-sites.ts";

export const SITES = ["express", "hono", "flask", "nginx", "php"] as const;
export type SiteName = (typeof SITES)[number];

export interface Site extends AsyncDisposable {
  readonly port: number;
}

interface Place {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a site; disposing of it ends it and removes its files. */
export async function openSite(name: SiteName): Promise<Site> {
  const own = ownFolder();
  const folder = join(own.path, "files");
  for (const part of GUARDED) {
    mkdirSync(join(folder, part), { recursive: true });
    writeFileSync(join(folder, part, "index.html"), SITE_WORDS);
  }
  writeFileSync(join(folder, "open.txt"), "open");
  const environment = { SITE_WORDS, SITE_FOLDER: folder };
  const { child, port } = await START[name]({ folder, environment });
  return {
    port,
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      own[Symbol.dispose]();
    },
  };
}

const START: Readonly<Record<SiteName, (place: Place) => Promise<{ child: Child; port: number }>>> = {
  express: (place) => startNode("express", place),
  hono: (place) => startNode("hono", place),
  flask: startFlask,
  nginx: startNginx,
  php: startPhp,
};

async function startNode(name: "express" | "hono", { folder }: Place) {
  const child = new Child(process.execPath, [join(import.meta.dirname, "node-sites.ts"), name, folder]);
  const [, port] = await child.prints(/"port":(\d+)/);
  return { child, port: Number(port) };
}

async function startFlask({ environment }: Place) {
  const args = ["--app", join(import.meta.dirname, "flask-site.py"), "run", "--port", "0"];
  const child = new Child(originProgram(FLASK), args, {
    environment: { ...environment, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const [, port] = await child.prints(/Running on http:\/\/127\.0\.0\.1:(\d+)/);
  return { child, port: Number(port) };
}

async function startNginx({ folder }: Place) {
  const port = await freePort();
  const prefix = join(folder, "..");
  writeFileSync(join(prefix, "nginx.conf"), nginxConf(port));
  const child = new Child(originProgram(NGINX), ["-p", prefix, "-c", "nginx.conf", "-e", "stderr"]);
  await isListening(child, port);
  return { child, port };
}

/** Guarded by case-insensitive expressions that end at anything but a letter of the name; and by files. */
function nginxConf(port: number): string {
  const guard = `add_header x-guarded yes always; default_type text/plain; return 200 "${SITE_WORDS}";`;
  const locations = GUARDED.map((name) => `location ~* "^/${name}([^a-z0-9_.\\x80-\\xff-]|$)" { ${guard} }`);
  return `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
    events { worker_connections 512; }
    http {
      access_log off;
      client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
      server {
        listen 127.0.0.1:${port};
        root files;
        ${locations.join("\n        ")}
        location / { error_page 403 404 405 =200 @open; try_files $uri $uri/index.html @open; }
        location @open { default_type text/plain; return 200 "open"; }
      }
    }`;
}

async function startPhp({ folder, environment }: Place) {
  const port = await freePort();
  // PHP finds a front controller by its name, and passes it the rest of the path.
  copyFileSync(join(import.meta.dirname, "router.php"), join(folder, "index.php"));
  const args = ["-d", "display_errors=0", "-S", `127.0.0.1:${port}`, "-t", folder, join(folder, "index.php")];
  const child = new Child(originProgram(PHP), ["-q", ...args], { environment });
  await isListening(child, port);
  return { child, port };
}

/** Resolves once something listens there. Fails when the program ends first. */
async function isListening(child: Child, port: number): Promise<void> {
  const ended = child.ended.then(({ code }) => {
    throw new Error(`the site ended with code ${code}:\n${child.out}${child.err}`);
  });
  ended.catch(() => {});
  while (!(await Promise.race([canConnect(port), ended]))) await pause(20);
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
