/** A page for people about how the demo goes, on a port of this machine. It reads itself again every other second. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type DemoScene, waitText } from "./view.ts";

export interface StatusPage {
  readonly address: string;
  close(): void;
}

/** Opens the page on a free port. */
export async function openStatusPage(look: () => Promise<DemoScene>): Promise<StatusPage> {
  const server = createServer(async (request, response) => {
    request.resume();
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" });
    response.end(await look().then(page, () => "The demo is stopping."));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Everything shown is a number or a word of ours. */
function page(scene: DemoScene): string {
  const { counts, limits } = scene;
  const { totals } = counts;
  const rows: readonly (readonly [string, string])[] = [
    ["The line is", counts.state],
    ["Waiting", String(counts.waiting)],
    ["On the site", `${counts.onSite + counts.admitted} of ${limits.totalActiveUsers}`],
    ["Let in", `${Math.round(counts.ratePerMinute)} a minute, at most ${limits.newUsersPerMinute}`],
    ["Wait of a newcomer", waitText(scene.waitSeconds)],
    ["So far", `${totals.joined} joined, ${totals.entered} entered, ${totals.left} left again`],
    ["Not seen again", `${totals.lapsed} wandered off, ${totals.missedTurns} missed their turn`],
  ];
  const cells = rows
    .map(([label, value]) => `<tr><th scope="row">${label}</th><td>${value}</td></tr>`)
    .join("");
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>Fairgate demo</title>
<style>body{font:1.1rem/1.6 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem;border-bottom:1px solid #8884;font-weight:normal}td{font-weight:bold}</style>
<h1>Fairgate demo</h1><table>${cells}</table><p>In a shell, <code>fairgate watch</code> shows the same for a real one.</p></html>`;
}
