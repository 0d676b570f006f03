/**
 * The one cookie of a room. It holds a ticket while its visitor waits and a pass while they are on the site, never
 * both. Over https its name has the `__Host-` prefix, which browsers only accept when it is secure and for one host; or
 * `__Secure-`, where it is for all hosts of a domain.
 */
import type { RoomSettings } from "../../config/schema.ts";

export interface RoomCookie {
  /** The token a request carries, or null. */
  read(header: string | undefined, isSecure: boolean): string | null;
  /** The Set-Cookie value that hands a token out. */
  give(token: string, ageMs: number, isSecure: boolean): string;
  /** The Set-Cookie value that takes it away. */
  drop(isSecure: boolean): string;
}

type CookieAttributes = RoomSettings["cookieAttributes"];

const SAME_SITE = { lax: "Lax", strict: "Strict", none: "None" } as const;

/** `domain`: for every host below it. Null: for the one that was asked. */
export function createRoomCookie(
  room: string,
  attributes: CookieAttributes,
  domain: string | null = null,
): RoomCookie {
  const isMarkedSecure = (isSecure: boolean) =>
    attributes.secure === "always" || (attributes.secure === "auto" && isSecure);
  const secureName = `${domain === null ? "__Host-" : "__Secure-"}fairgate_${room}`;
  const plainName = `fairgate_${room}`;
  const reach = domain === null ? "Path=/" : `Domain=${domain}; Path=/`;
  const tail = `${reach}; HttpOnly; SameSite=${SAME_SITE[attributes.sameSite]}`;
  const write = (value: string, seconds: number, isSecure: boolean) =>
    isMarkedSecure(isSecure)
      ? `${secureName}=${value}; Max-Age=${seconds}; ${tail}; Secure`
      : `${plainName}=${value}; Max-Age=${seconds}; ${tail}`;
  return {
    read: (header, isSecure) =>
      header === undefined ? null : readCookie(header, isMarkedSecure(isSecure) ? secureName : plainName),
    give: (token, ageMs, isSecure) => write(token, Math.max(1, Math.ceil(ageMs / 1_000)), isSecure),
    drop: (isSecure) => write("", 0, isSecure),
  };
}

/** The value of the first cookie by this name. */
export function readCookie(header: string, name: string): string | null {
  for (let at = header.indexOf(name); at >= 0; at = header.indexOf(name, at + 1)) {
    if (header[at + name.length] !== "=" || !isStart(header, at)) continue;
    const start = at + name.length + 1;
    const end = header.indexOf(";", start);
    const value = end < 0 ? header.slice(start) : header.slice(start, end);
    // Blanks around a value are rare, and looking is quicker than trimming.
    return isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1)) ? value.trim() : value;
  }
  return null;
}

/** True where a cookie begins: at the start or behind a semicolon. A value may have blanks and other names in it. */
function isStart(header: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && isBlank(header.charCodeAt(before))) before--;
  return before < 0 || header[before] === ";";
}

function isBlank(code: number): boolean {
  return code <= 0x20;
}
