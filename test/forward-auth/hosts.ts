/**
 * Proxies that serve the site and ask Fairgate: the real nginx, Caddy and HAProxy, each with its file of `deploy/`. Nothing in it
 * is changed except addresses and what happens to requests while Fairgate is away.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CADDY, HAPROXY } from "../../scripts/forward-auth-hosts.ts";
import { NGINX, originProgram } from "../../scripts/origins.ts";
import { Child } from "../../src/testing/cli/child.ts";
import { eventually, isListening } from "../../src/testing/cli/eventually.ts";
import { ownFolder } from "../../src/testing/cli/fairgate.ts";
import { freePort } from "../../src/testing/free-port.ts";

/** Addresses of the others, as `host:port`. */
export interface Places {
  readonly fairgate: string;
  readonly site: string;
  /** What happens to requests while Fairgate is away: nobody gets in, or everyone does. */
  readonly away: "closed" | "open";
  /** The rooms' names, for a proxy that must know their cookies. */
  readonly rooms: readonly string[];
}

export interface Host extends AsyncDisposable {
  readonly address: string;
}

export type StartHost = (places: Places) => Promise<Host>;

const DEPLOY = join(import.meta.dirname, "..", "..", "deploy");

export const deployed = (name: string): string => readFileSync(join(DEPLOY, name), "utf8");

/** Replaces each of these texts, which must occur once. */
export function changed(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((before, [from, to]) => {
    if (before.split(from).length !== 2) throw new Error(`"${from}" is not there once`);
    return before.replace(from, () => to);
  }, text);
}

export const startNginx: StartHost = async ({ fairgate, site, away }) => {
  const listen = `127.0.0.1:${await freePort()}`;
  const folder = ownFolder();
  const written = changed(deployed("nginx/fairgate.conf"), {
    "server 127.0.0.1:8080;": `server ${fairgate};`,
    "server 127.0.0.1:3000;": `server ${site};`,
    "listen 80;": `listen ${listen};`,
    ...(away === "open" && { "error_page 502 504 = @away;": "error_page 502 504 = @passed;" }),
  });
  folder.write("fairgate.conf", written);
  folder.write("nginx.conf", NGINX_CONF);
  return start(originProgram(NGINX), ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"], listen, folder);
};

/** What surrounds it in a machine's own nginx.conf. */
const NGINX_CONF = `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
  include fairgate.conf;
}`;

export const startCaddy: StartHost = async ({ fairgate, site, away }) => {
  const port = await freePort();
  const folder = ownFolder();
  const environment = {
    LISTEN: `http://127.0.0.1:${port}`,
    ...{ FAIRGATE: fairgate, SITE: site, FAIRGATE_AWAY: away },
    CADDY_ADMIN: `127.0.0.1:${await freePort()}`,
    HOME: folder.path,
    XDG_CONFIG_HOME: folder.path,
    XDG_DATA_HOME: folder.path,
  };
  const args = ["run", "--adapter", "caddyfile", "--config", join(DEPLOY, "caddy", "Caddyfile")];
  return start(originProgram(CADDY), args, `127.0.0.1:${port}`, folder, environment);
};

export const startHaproxy: StartHost = async ({ fairgate, site, away }) => {
  const listen = `127.0.0.1:${await freePort()}`;
  const folder = ownFolder();
  const environment = {
    ...{ LISTEN: listen, FAIRGATE: fairgate, SITE: site, FAIRGATE_AWAY: away },
    FAIRGATE_LUA: join(DEPLOY, "haproxy", "fairgate.lua"),
  };
  const args = ["-db", "-f", join(DEPLOY, "haproxy", "haproxy.cfg")];
  return start(originProgram(HAPROXY), args, listen, folder, environment);
};

async function start(
  program: string,
  args: readonly string[],
  listen: string,
  folder: ReturnType<typeof ownFolder>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Host> {
  mkdirSync(join(folder.path, "t"));
  writeFileSync(join(folder.path, "t", ".keep"), "");
  const child = new Child(program, args, { cwd: folder.path, environment });
  const address = `http://${listen}`;
  const failed = child.ended.then(() => {
    throw new Error(`it ended:\n${child.out}${child.err}`);
  });
  failed.catch(() => {});
  await Promise.race([eventually(`${program} listens`, () => isListening(address)), failed]);
  return {
    address,
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}
