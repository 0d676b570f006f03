/**
 * The page for people at the control address, `GET /`: every room with its state, counts and limits, and the origins. It only
 * shows, has no script and no form, and is loaded again by a `Refresh` header. What comes from settings is escaped.
 */
import { hash } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Counts } from "../core/engine.ts";
import { askEngine, EngineAway } from "./ask-engine.ts";
import type { OfficeEnv } from "./caller.ts";
import type { Desk, Handed } from "./desk.ts";
import { type NewcomerWait, newcomerWait } from "./newcomer-wait.ts";

export const PAGE_PATH = "/";
const REFRESH_SECONDS = 2;
/** Many rooms are asked for less often. */
const ROOMS_A_SECOND = 20;
const STYLE = `:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:72rem;margin:1.5rem auto;padding:0 1rem}
h1{font-size:1.4rem}table{border-collapse:collapse;width:100%;margin:1rem 0}caption{text-align:left;font-weight:bold}
th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #8886;vertical-align:top}a{color:inherit}
td{font-variant-numeric:tabular-nums}meter{display:block;width:100%;min-width:5rem}div{overflow-x:auto}`;
const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "Cross-Origin-Opener-Policy": "same-origin",
};

interface Row {
  readonly name: string;
  readonly counts: Counts;
  readonly wait: NewcomerWait | null;
}

/** Adds the page. It is no part of the document, which is for programs. */
export function addPage(app: OpenAPIHono<OfficeEnv>, handed: Handed): void {
  const { desk, world } = handed;
  const rowOf = async (name: string): Promise<Row> => {
    const counts = await askEngine(world, () => desk.engine.counts(name));
    return { name, counts, wait: await newcomerWait(handed, name, counts) };
  };
  app.get(PAGE_PATH, async (c) => {
    const names = desk.rooms();
    const seconds = Math.max(REFRESH_SECONDS, Math.ceil(names.length / ROOMS_A_SECOND));
    const isStill = c.req.query("still") !== undefined;
    const headers = isStill ? PAGE_HEADERS : { ...PAGE_HEADERS, Refresh: String(seconds) };
    const way = isStill
      ? `This page stands still. <a href="/">Load it again every ${seconds} seconds</a>`
      : `This page loads itself again every ${seconds} seconds. <a href="/?still">Let it stand still</a>`;
    try {
      const rows = await Promise.all(names.map(rowOf));
      return c.body(page(desk, `${roomTable(rows)}${originTable(desk)}`, way), 200, headers);
    } catch (error) {
      if (!(error instanceof EngineAway)) throw error;
      return c.body(page(desk, "<p><b>The engine does not answer.</b></p>", way), 503, headers);
    }
  });
}

function page({ version }: Desk, body: string, way: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Fairgate</title><style>${STYLE}</style><main><h1>Fairgate ${escaped(version)}</h1>${body}<p>${way}</p></main></html>`;
}

function roomTable(rows: readonly Row[]): string {
  const heads = [
    "Room",
    "State",
    "Waiting",
    "Wait of a newcomer",
    "On the site",
    "Let in a minute, at most",
    "Let in so far",
    "Missed turns",
  ];
  return table("Rooms", heads, rows.map(roomCells));
}

function roomCells({ name, counts, wait }: Row): string[] {
  const { limits, totals } = counts;
  return [
    escaped(name),
    counts.event === null ? counts.state : `${counts.state}, event ${escaped(counts.event)}`,
    number(counts.waiting),
    waitWords(wait),
    ofLimit(counts.onSite + counts.admitted, limits.totalActiveUsers),
    limits.newUsersPerMinute === null ? "no limit" : number(limits.newUsersPerMinute),
    number(totals.entered),
    number(totals.missedTurns),
  ];
}

function originTable(desk: Desk): string {
  const rows = desk
    .origins()
    .map(({ address, isUp, inFlight }) => [escaped(address), isUp ? "up" : "down", number(inFlight)]);
  return rows.length === 0 ? "" : table("Origins", ["Address", "State", "Requests under way"], rows);
}

/** A table of cells that are HTML already; the first of each row names it. */
function table(caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join("");
  const body = rows.map(
    ([first, ...rest]) =>
      `<tr><th scope="row">${first}</th>${rest.map((cell) => `<td>${cell}</td>`).join("")}</tr>`,
  );
  return `<div tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
}

function ofLimit(value: number, limit: number | null): string {
  if (limit === null) return `${number(value)}, no limit`;
  const text = `${number(value)} of ${number(limit)}`;
  return `${text}<meter min="0" max="${Math.max(1, limit)}" value="${Math.min(value, limit)}" aria-label="${text}"></meter>`;
}

function waitWords(wait: Row["wait"]): string {
  if (wait === null) return "not known";
  if (wait.high < 1) return "none";
  const isLong = wait.high >= 300;
  const [low, high] = [wait.low, wait.high].map((seconds) => number(isLong ? seconds / 60 : seconds));
  return `${low === high ? low : `${low} to ${high}`} ${isLong ? "min" : "s"}`;
}

function number(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
