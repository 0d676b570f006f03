/**
 * The request that `fairgate check --url` is asked about, from its flags. The address is taken as it is
 * written, dots and all: people who try to get past the line do not use a browser, which would normalise it.
 */
import { METHODS } from "node:http";
import { isIP } from "node:net";
import { type Problem, safeText } from "../config/problem.ts";
import { inAscii } from "../config/route.ts";
import type { BypassRequest } from "../gateway/bypass.ts";
import { plainAddress } from "../gateway/proxy/forwarded.ts";
import { HEADERS_MAX, isHost } from "../gateway/proxy/framing.ts";

export interface QuestionFlags {
  readonly url?: string;
  readonly method?: string;
  /** Each as `Name: value`. */
  readonly header?: readonly string[];
  readonly address?: string;
}

export interface Question {
  readonly method: string;
  /** The whole address, without what follows a #. */
  readonly url: string;
  /** Path and query. */
  readonly target: string;
  readonly arrival: BypassRequest;
}

export type QuestionAnswer =
  | { readonly ok: true; readonly question: Question | null }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Notes what is wrong with a flag. */
type Refuse = (flag: string, wrong: string, hint: string) => null;

interface Address {
  readonly url: string;
  readonly target: string;
  readonly host: string;
  readonly isSecure: boolean;
}

const URL_CHARACTERS_MAX = 8_192;
const SHOWN_CHARACTERS_MAX = 100;
const URL_HINT = "Write the whole address, such as https://shop.example/booking?a=1.";
const HEADER_HINT = 'Write it as "Name: value".';

/** The question, null when none is asked, or everything that is wrong with it. */
export function readQuestion(flags: QuestionFlags): QuestionAnswer {
  const problems: Problem[] = [];
  const refuse: Refuse = (flag, wrong, hint) => {
    const source = { kind: "flag", name: flag, spot: null } as const;
    problems.push({ code: "flag", path: "", message: `${flag} ${wrong}`, hint, source });
    return null;
  };
  const question = flags.url === undefined ? askNothing(flags, refuse) : ask(flags.url, flags, refuse);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, question };
}

function askNothing({ method, header, address }: QuestionFlags, refuse: Refuse): null {
  for (const [name, value] of Object.entries({ method, header, address }))
    if (value !== undefined) refuse(`--${name}`, "is about a request, and there is no --url", URL_HINT);
  return null;
}

function ask(written: string, flags: QuestionFlags, refuse: Refuse): Question | null {
  const where = readUrl(written, refuse);
  const method = readMethod(flags.method ?? "GET", refuse);
  const headers = readHeaders(flags.header ?? [], refuse);
  const address = flags.address === undefined ? undefined : readAddress(flags.address, refuse);
  if (where === null || method === null || headers === null || address === null) return null;
  const { url, target, host, isSecure } = where;
  const arrival = {
    method,
    headers: { host, ...Object.fromEntries(headers) },
    socket: { remoteAddress: address, encrypted: isSecure },
  };
  return { method, url, target, arrival };
}

function readUrl(written: string, refuse: Refuse): Address | null {
  const wrong = (what: string) => refuse("--url", `is ${shown(written)}, which ${what}`, URL_HINT);
  if (written.length > URL_CHARACTERS_MAX) return wrong(`has ${written.length} characters`);
  if (/[\x00-\x20\x7f]/.test(written)) return wrong("has a space or control character in it");
  const [, scheme, authority = "", rest = ""] = /^(https?:)\/\/([^/?#\\]*)([^#]*)/i.exec(written) ?? [];
  if (scheme === undefined) return wrong("is not an http or https address");
  if (authority.includes("@")) return wrong("has a user name or password in it");
  const base = `${scheme}//${authority}`;
  const url = URL.parse(base);
  if (url === null || !isHost(url.host)) return wrong("has no host name in it");
  const { protocol, host, origin } = url;
  const target = inAscii(rest.startsWith("/") ? rest : `/${rest}`);
  return { url: origin + target, target, host, isSecure: protocol === "https:" };
}

function readMethod(written: string, refuse: Refuse): string | null {
  const method = written.toUpperCase();
  if (METHODS.includes(method)) return method;
  return refuse("--method", `is ${shown(written)}, which is not a method`, "Write a method such as POST.");
}

/** By name in lower case; one that is repeated as a server joins it. No value is told: it may be a secret. */
function readHeaders(written: readonly string[], refuse: Refuse): ReadonlyMap<string, string> | null {
  if (written.length > HEADERS_MAX)
    return refuse("--header", `is given ${written.length} times`, `There can be ${HEADERS_MAX}.`);
  const headers = new Map<string, string>();
  for (const line of written) {
    const colon = Math.max(0, line.indexOf(":"));
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      return refuse("--header", "does not begin with a header's name and a colon", HEADER_HINT);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      return refuse("--header", `gives ${shown(name)} a character that cannot be sent`, HEADER_HINT);
    const before = headers.get(name);
    const joint = name === "cookie" ? "; " : ", ";
    headers.set(name, before === undefined ? value : before + joint + value);
  }
  return headers;
}

function readAddress(written: string, refuse: Refuse): string | null {
  const address = plainAddress(written.trim());
  if (isIP(address) !== 0) return address;
  const hint = "Write one such as 203.0.113.7.";
  return refuse("--address", `is ${shown(written)}, which is not an IP address`, hint);
}

function shown(written: string): string {
  return `"${safeText(written, SHOWN_CHARACTERS_MAX)}"`;
}
