/** Parsers of what visitors and proxies send: the PROXY header, the target, the headers, and what is in them. */
import { bypassSchema } from "../../config/bypass-schema.ts";
import { readPlainPath } from "../../config/plain-path.ts";
import { roomSchema } from "../../config/schema.ts";
import { Binding } from "../../gateway/abuse/binding.ts";
import type { Finished } from "../../gateway/access-log/line.ts";
import { wants } from "../../gateway/asking.ts";
import { createBypass } from "../../gateway/bypass.ts";
import { requestHeaders, stripCookies } from "../../gateway/headers.ts";
import { codeInUrl, linkWithoutCode, withoutCode } from "../../gateway/lanes/carried-code.ts";
import { languageChooser } from "../../gateway/page/languages.ts";
import { prefersJson } from "../../gateway/page/problem.ts";
import { parseForwarded, splitForwardedFor } from "../../gateway/proxy/forwarded.ts";
import { originForm, refuseFraming } from "../../gateway/proxy/framing.ts";
import { createTrust } from "../../gateway/proxy/trust.ts";
import { createRouter } from "../../gateway/route.ts";
import { readCookie } from "../../gateway/tokens/cookies.ts";
import { readProxyHeader } from "../../sockets/proxy-header.ts";
import { whereabouts } from "../../sockets/whereabouts.ts";
import { accessLines } from "../access-lines.ts";
import { again, type Parser } from "./parser.ts";

const room = (settings: object) => roomSchema.parse({ totalActiveUsers: 1, ...settings });
const rooms = {
  tickets: room({ path: "/tickets" }),
  cafe: room({ path: "/café/index.php/x" }),
  shop: room({ host: "shop.example.com", path: "/buy" }),
  others: room({ host: "*.example.org" }),
};
const router = createRouter({ rooms, oddPaths: "normalize", otherHosts: "pass" });

const bypass = createBypass(
  bypassSchema.parse([
    { path: ["/assets/*.js", "/health"], methods: ["GET"] },
    { header: { "x-key": ["a*b*c*d", "secret"] } },
    { cookie: { key: ["a*b*c*d", "secret"] } },
    { userAgent: ["*bot*crawler*spider*"] },
    { query: { key: ["a*b*c*d", "secret"] } },
    { addresses: ["203.0.113.0/24"] },
  ]),
);
const trust = createTrust(["127.0.0.1", "10.0.0.0/8"], true);
const binding = new Binding("userAgent", { secret: "a".repeat(32), previousSecrets: ["b".repeat(32)] });
const socket = { remoteAddress: "127.0.0.1" };

function asked(headers: Record<string, string>, method = "GET") {
  return { method, socket, headers };
}

function head(url: string, host = "a") {
  return { method: "GET", url, httpVersionMajor: 1, httpVersionMinor: 1, rawHeaders: ["Host", host] };
}

const logLine = accessLines("combined");
const logged: Omit<Finished, "path" | "referer" | "userAgent" | "host"> = {
  ...{ endedAt: 0, address: "127.0.0.1", method: "GET", httpVersion: "1.1", status: 200, bytes: 1 },
  ...{ room: "main", decision: "pass", visitor: null, origin: null, originMs: 1, tookMs: 1, id: "1" },
};

const context = {
  client: { protocol: "http", host: "a", peer: "127.0.0.1", isPeerTrusted: true },
  host: "a",
  id: "1",
  added: ["Fairgate-Room", "main"],
  upgrade: null,
};

const ADDRESSES = [again("1.2.3.4,"), again(", ,"), again("[::1]:80,"), again("::ffff:1.2.3.4,")];

const paths: readonly Parser[] = [
  {
    name: "path, routed",
    read: (text) => router.route("a", text.startsWith("/") ? text : `/${text}`),
    worst: [
      again("\\", { before: "/a", after: "a/" }),
      again("/", { before: "/a", after: "a/" }),
      ...[
        "/../",
        "/./",
        "//",
        "/%2e%2e/",
        "/%2F..",
        "/..;",
        "/a.php/",
        ";/",
        "/;a=b",
        "%5c..",
        "%25",
        "%2525",
      ].map((unit) => again(unit, { before: "/tickets" })),
      again("/a", { after: "/%2F" }),
      again("%c3%a9", { before: "/caf" }),
      again("%ef%b7%ba", { before: "/" }),
      again("%cc%81", { before: "/a" }),
    ],
  },
  {
    name: "path, made plain",
    read: (text) => readPlainPath(`/${text}`),
    worst: [again("a/../", { after: ".." }), again(" ./"), again("%20.%20"), again("../", { before: "a/" })],
  },
  {
    name: "host, routed",
    read: (text) => router.route(text, "/"),
    worst: [again("a."), again(".a"), again("shop.example.com."), again("a:")],
  },
  {
    name: "request target",
    read: (text) => refuseFraming(head(text)),
    worst: [again("http://", { before: "http://a" }), again("a/", { before: "http://", after: "\n" })],
  },
  {
    name: "target as a path",
    read: originForm,
    worst: [again("a", { before: "http://", after: "\n" }), again("//", { before: "https:" })],
  },
  { name: "Host", read: (text) => refuseFraming(head("/", text)), worst: [again("a:"), again("[:")] },
];

const queries: readonly Parser[] = [
  {
    name: "query: code",
    read: (text) => codeInUrl(`/?${text}`),
    worst: [
      again("fairgate%5Fcode&"),
      again("%66&"),
      again("fairgate_code", { after: "&" }),
      again("%&=", { before: "%" }),
      again("?"),
    ],
  },
  {
    name: "query: without code",
    read: (text) => withoutCode(`/?${text}`),
    worst: [again("fairgate_code=1&"), again("fairgate%5Fcode=1&a&"), again("#", { before: "%" })],
  },
  { name: "link", read: linkWithoutCode, worst: [again("/\\ "), again("/", { after: "a" })] },
];

const headers: readonly Parser[] = [
  {
    name: "Cookie: one of them",
    read: (text) => readCookie(text, "__Host-fairgate_main"),
    worst: [
      again("__Host-fairgate_main"),
      again("__Host-fairgate_mai"),
      again("; __Host-fairgate_main "),
      again("a=b; "),
      again(" ", { before: "__Host-fairgate_main=" }),
    ],
  },
  {
    name: "Cookie: without ours",
    read: stripCookies,
    worst: [
      again("fairgate_a=1;"),
      again(";", { before: "fairgate_" }),
      again(" ;", { before: "fairgate_" }),
    ],
  },
  {
    name: "Cookie: in crumbs",
    read: (text) => requestHeaders(crumbs("cookie", text, 100), context),
    worst: [again("a=b; "), again("fairgate_a=1; ")],
  },
  {
    name: "Connection",
    read: (text) => requestHeaders(["Connection", text, "Host", "a", "A", "b"], context),
    worst: [again("a,"), again(", ,"), again("close,")],
  },
  {
    name: "headers, many",
    read: (text) => requestHeaders(crumbs("x-forwarded-a", text, 20), context),
    worst: [again("x-a")],
  },
  {
    name: "X-Forwarded-For",
    read: (text) => trust.client(asked({ "x-forwarded-for": text })),
    worst: [...ADDRESSES, again("0", { before: "fe80::1%" }), again("10.0.0.1,")],
  },
  { name: "X-Forwarded-For, split", read: splitForwardedFor, worst: ADDRESSES },
  {
    name: "X-Forwarded-For, sent on",
    read: (text) => requestHeaders(["X-Forwarded-For", text], context),
    worst: ADDRESSES,
  },
  {
    name: "Forwarded",
    read: (text) => trust.client(asked({ forwarded: text })),
    worst: [
      again("for=1.2.3.4,"),
      again('for="[::1]:80";'),
      again('"'),
      again("\\", { before: '"' }),
      again('\\"', { before: 'for="' }),
      again('";', { before: "for=" }),
    ],
  },
  { name: "Forwarded, read", read: parseForwarded, worst: [again(';="'), again('"",'), again('="\\\\"')] },
  {
    name: "Forwarded, sent on",
    read: (text) => requestHeaders(["Forwarded", text], context),
    worst: [again("for=a;host=b,"), again('for="a:b";proto=c,'), again("for=:")],
  },
  {
    name: "X-Forwarded-Proto and -Host",
    read: (text) => trust.client(asked({ "x-forwarded-proto": text, "x-forwarded-host": text })),
    worst: [again("https,"), again(" "), again("a.")],
  },
  {
    name: "Accept",
    read: (text) =>
      wants({
        ...{ method: "GET", accept: text, fetchDestination: text },
        ...{ fetchMode: text, upgradeInsecure: text },
      }) + prefersJson(text),
    worst: [again("application/"), again("application/json,"), again("a;q=0.1;"), again("application/x+")],
  },
  {
    name: "Accept-Language",
    // A chooser of its own each time: one that remembers would be asked once.
    read: (text) => languageChooser("en")(text),
    worst: [again("en-"), again("a-a-"), again("en;q=1,"), again(";q=0"), again("zz-aa,")],
  },
  {
    name: "User-Agent: binding",
    read: (text) => binding.of({ userAgent: text, address: "203.0.113.7" }),
    worst: [],
  },
  {
    name: "access log",
    read: (text) => logLine({ ...logged, path: text, referer: text, userAgent: text, host: text }),
    worst: [again('"'), again("\\"), again("a", { after: "\x1b" })],
  },
  {
    name: "address",
    read: whereabouts,
    worst: [again("1:"), again("::"), again("1."), again("0", { before: "fe80::1%" })],
  },
];

const rules: readonly Parser[] = [
  {
    name: "bypass: path and query",
    read: (text) => bypass.match(asked({}), `/assets/${text}`, trust),
    worst: [again("a.js", { after: "/" }), again("?key=a&"), again("&key=ab", { before: "?" }), again("%2F")],
  },
  {
    name: "bypass: header",
    read: (text) => bypass.match(asked({ "x-key": text }), "/", trust),
    worst: [again("ab"), again("bc", { before: "a" }), again("abc", { before: "a", after: "d" })],
  },
  {
    name: "bypass: cookie",
    read: (text) => bypass.match(asked({ cookie: text }), "/", trust),
    worst: [again("key=ab;"), again("key ="), again(" key"), again(";=")],
  },
  {
    name: "bypass: user agent",
    read: (text) => bypass.match(asked({ "user-agent": text }), "/", trust),
    worst: [again("bo"), again("bot"), again("crawle", { before: "bot" }), again("botcrawler")],
  },
];

const SIGNATURE = "\r\n\r\n\0\r\nQUIT\n";

const connections: readonly Parser[] = [
  {
    name: "PROXY header",
    read: (text) => readProxyHeader(Buffer.from(text, "latin1")),
    worst: [
      again(" ", { before: "PROXY " }),
      again("\r", { before: "PROXY UNKNOWN ", after: "\n" }),
      again("1", { before: "PROXY TCP4 " }),
      again(":", { before: "PROXY TCP6 " }),
      again("\0", { before: `${SIGNATURE}\x21\x11\x0f\xf0` }),
      again("\xff", { before: `${SIGNATURE}\x21\x21` }),
    ],
  },
];

export const REQUEST_PARSERS: readonly Parser[] = [
  ...connections,
  ...paths,
  ...queries,
  ...headers,
  ...rules,
];

/** A header's text in lines of this many characters each. */
function crumbs(name: string, text: string, letters: number): string[] {
  const raw: string[] = [];
  for (let at = 0; at < text.length; at += letters) raw.push(name, text.slice(at, at + letters));
  return raw;
}
