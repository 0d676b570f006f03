/** nginx as a load balancer (`least_conn`), for benches that measure ours beside it. One process, on the server's core. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { NGINX, originProgram } from "../scripts/origins.ts";
import { freePort } from "../src/testing/free-port.ts";
import { pinToServerCore } from "./child.ts";

export interface Balancer {
  readonly port: number;
  stop(): Promise<void>;
}

/** In front of these ports, with nginx's own defaults but for the two times. */
export async function startNginx(ports: readonly number[], timeout: string): Promise<Balancer> {
  const folder = mkdtempSync(join(tmpdir(), "fairgate-bench-"));
  const port = await freePort();
  writeFileSync(join(folder, "nginx.conf"), configuration(port, ports, timeout));
  const child = spawn(originProgram(NGINX), ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  pinToServerCore(child.pid!);
  await isListening(child, port);
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        });
        child.kill("SIGKILL");
      }),
  };
}

function configuration(port: number, ports: readonly number[], timeout: string): string {
  const servers = ports.map((one) => `server 127.0.0.1:${one};`).join(" ");
  return `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
    events { worker_connections 1024; }
    http {
      access_log off;
      client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
      upstream site { least_conn; ${servers} keepalive 64; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://site;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_connect_timeout ${timeout};
          proxy_read_timeout ${timeout};
        }
      }
    }`;
}

async function isListening(child: ChildProcess, port: number): Promise<void> {
  while (!(await canConnect(port))) {
    if (child.exitCode !== null) throw new Error(`nginx ended with code ${child.exitCode}`);
    await pause(20);
  }
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
