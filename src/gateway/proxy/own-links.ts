/**
 * An origin's links to itself. With `hostHeader: origin`, or a name of the operator's choice, the origin is asked under
 * a name that visitors do not know, and builds redirects and cookies for that name. Here they become the visitor's own:
 *
 *   Location, Content-Location, Refresh    http://10.0.0.1:3000/cart  →  https://shop.example/cart
 *   Set-Cookie                             id=1; Domain=10.0.0.1      →  id=1   (a cookie of the host that was asked)
 *
 * Only the start of a URL is replaced, and only where scheme, host and port name one of the origin's addresses or the
 * name it was given; everything else stays byte for byte. The visitor's protocol takes the place of the scheme, but for
 * one case: an origin that is asked over http and says https to a visitor on http wants TLS, and gets it. The other way
 * it would redirect the visitor to the same page for ever.
 */
import type { OriginSettings } from "../../config/schema.ts";
import { isHost } from "./framing.ts";
import { isNamed } from "./raw-header.ts";
import type { Client } from "./trust.ts";

export interface OwnLinks {
  /** Replaces the origin's own name in its answer, a flat list of headers that is changed in place. */
  rewrite(headers: string[], client: Client): string[];
}

const LINK = /^(?:(https?):)?\/\/([^/?#]*)/i;
const AUTHORITY = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;
/** What stands before the URL of a Refresh: `5; url=`. */
const REFRESH = /^[\d.]+\s*[;,]\s*(?:url\s*=\s*)?["']?/i;
const LINK_HOST_CHARACTERS_MAX = 300;
const PORTS = { http: "80", https: "443" } as const;

/** Null when the origin is asked under the visitor's own host name: its links then need no rewriting. */
export function createOwnLinks(settings: Pick<OriginSettings, "addresses" | "hostHeader">): OwnLinks | null {
  if (settings.hostHeader === "preserve") return null;
  const own = ownNames(settings);
  const change = (name: string, value: string, client: Client): string => {
    switch (name.length) {
      case 7:
        return isNamed(name, "Refresh", "refresh") ? refresh(value, client) : value;
      case 8:
        return isNamed(name, "Location", "location") ? link(value, client) : value;
      case 10:
        return isNamed(name, "Set-Cookie", "set-cookie") ? cookie(value, client) : value;
      case 16:
        return isNamed(name, "Content-Location", "content-location") ? link(value, client) : value;
      default:
        return value;
    }
  };
  const link = (url: string, client: Client) => withoutOwnName(url, own, client);
  const refresh = (value: string, client: Client) => {
    const before = REFRESH.exec(value)?.[0];
    return before === undefined ? value : before + link(value.slice(before.length), client);
  };
  const cookie = (value: string, client: Client) => withoutOwnDomain(value, own, client);
  return {
    rewrite(headers, client) {
      for (let i = 0; i < headers.length; i += 2)
        headers[i + 1] = change(headers[i]!, headers[i + 1]!, client);
      return headers;
    },
  };
}

/** The names under which the origin knows itself. */
interface OwnNames {
  /** `host:port`. A name that was told without a port has that of http and that of https. */
  readonly authorities: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;
  /** All its addresses are asked over http. */
  readonly isPlain: boolean;
}

function ownNames({ addresses, hostHeader }: Pick<OriginSettings, "addresses" | "hostHeader">): OwnNames {
  const urls = addresses.map((address) => new URL(address));
  const authorities = new Set<string>();
  const hosts = new Set<string>();
  const add = (host: string, ports: readonly string[]) => {
    hosts.add(host);
    for (const port of ports) authorities.add(`${host}:${port}`);
  };
  for (const { hostname, port } of urls) add(hostname, portsOf(port));
  const [, host, port] = (hostHeader !== "origin" && AUTHORITY.exec(hostHeader.toLowerCase())) || [];
  // Many servers put the port they listen on behind the name they were asked for.
  if (host !== undefined) for (const url of urls) add(host, [...portsOf(port), ...portsOf(url.port)]);
  return { authorities, hosts, isPlain: urls.every(({ protocol }) => protocol === "http:") };
}

function portsOf(port: string | undefined): readonly string[] {
  return port ? [String(Number(port))] : [PORTS.http, PORTS.https];
}

function withoutOwnName(url: string, own: OwnNames, client: Client): string {
  const [start = "", scheme, authority = ""] = LINK.exec(url) ?? [];
  if (authority.length === 0 || authority.length > LINK_HOST_CHARACTERS_MAX) return url;
  const said = (scheme?.toLowerCase() ?? "http") as keyof typeof PORTS;
  const [, host, port] = AUTHORITY.exec(authority.toLowerCase()) ?? [];
  if (host === undefined || !own.authorities.has(`${host}:${Number(port ?? PORTS[said])}`)) return url;
  // Checked once more, so that nothing but a host is ever put into an answer.
  if (!isHost(client.host) || client.host.toLowerCase() === authority.toLowerCase()) return url;
  const protocol = own.isPlain && said === "https" ? said : client.protocol;
  return `${scheme === undefined ? "" : `${protocol}:`}//${client.host}${url.slice(start.length)}`;
}

/** Without a Domain the cookie belongs to the host that was asked. One that fits that host stays. */
function withoutOwnDomain(cookie: string, own: OwnNames, client: Client): string {
  const parts = cookie.split(";");
  const kept = parts.filter((part, index) => {
    const domain = index === 0 ? null : domainIn(part);
    return domain === null || !own.hosts.has(domain) || isBelow(client.host, domain);
  });
  return kept.length === parts.length ? cookie : kept.join(";");
}

/** The value of a Domain attribute, without the dot that may be before it; null for another attribute. */
function domainIn(attribute: string): string | null {
  const equals = attribute.indexOf("=");
  if (equals < 0 || attribute.slice(0, equals).trim().toLowerCase() !== "domain") return null;
  const domain = attribute
    .slice(equals + 1)
    .trim()
    .toLowerCase();
  return domain.startsWith(".") ? domain.slice(1) : domain;
}

/** True when a browser at `host`, which may have a port, would take a cookie for the domain (RFC 6265, 5.1.3). */
function isBelow(host: string, domain: string): boolean {
  const name = AUTHORITY.exec(host.toLowerCase())?.[1] ?? "";
  return name === domain || name.endsWith(`.${domain}`);
}
