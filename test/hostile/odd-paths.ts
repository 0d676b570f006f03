/**
 * Paths that a gateway and the site behind it could read differently. The attacker has no pass, and wants the gateway to take a
 * request for an open page and the site to take it for a guarded one: with every method, over HTTP/1.0, 1.1 and 2, with absolute
 * targets, as an upgrade, and by headers that name another path.
 *
 * There is a list of spellings known to have worked somewhere, and a generator of others.
 */
import http2, { type ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import fc from "fast-check";
import type { Attack, Gain, Scale, Target } from "./attack.ts";
import { SITE_WORDS } from "./site.ts";
import { openSite, SITES, type SiteName } from "./sites/sites.ts";

/** How a path is sent. `absolute` is HTTP/1.1 with a whole URL as target. */
export type How = "1.0" | "1.1" | "absolute" | "upgrade" | "2";
export const HTTP1: readonly How[] = ["1.0", "1.1", "absolute", "upgrade"];

export interface Try {
  readonly how: How;
  readonly method: string;
  /** In bytes, one character each. */
  readonly path: string;
  /** As sent over HTTP/1. */
  readonly headers: readonly string[];
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] as const;

/** Guarded names besides `tickets`, as the attacker writes them: in bytes. */
const OTHER_WORDS = ["caf%C3%A9", bytes("café"), "my%20tickets"] as const;

/** `@` stands for a guarded name. */
const SPELLINGS = [
  ...[
    "/@",
    "/@/",
    "/@/x",
    "/@?x",
    "/@/..",
    "/@/.",
    "/@/../",
    "/@/x/..",
    "/@/%2e%2e",
    "/@/.%2e",
    "/@/%2E%2E/",
  ],
  ...[
    "/@//../buy",
    "/@//..",
    "/@/x/../..",
    "/@/../buy",
    "/@/./../buy",
    "/@//",
    "//@",
    "///@//x",
    "/./@",
    "/.//@",
  ],
  ...["/x/../@", "/x//../@", "/x/y/../../@", "/x/%2e%2e/@", "/%2e/@", "/%2e%2e/@", "/../@", "/x/..//@"],
  ...[
    "/@/x\\..\\..",
    "/@\\",
    "/@\\x",
    "/@\\..",
    "/\\@",
    "\\@",
    "/x\\..\\@",
    "/x/..\\@",
    "/.\\@",
    "/\\/@",
    "/x\\../@",
  ],
  ...["/@%2fx%5c..%5c", "/@%2f", "/@%2Fx", "/@%5c", "/@%5Cx", "/%2f@", "/%5c@", "/x%2f..%2f@", "/x%5c..%5c@"],
  ...[
    "/x/..%2f@",
    "/x/..%5c@",
    "/@%2f..",
    "/@/..%2fbuy",
    "/@%2f%2e%2e%2fbuy",
    "/.%2f@",
    "/..%2f@",
    "/x%2f%2e%2e/@",
  ],
  ...["/@;", "/@;x", "/@;x=y/z", "/;/@", "/;x/@", "/x/..;/@", "/..;/@", "/@/..;/buy", "/.;/@", "/x;y/../@"],
  ...["/@%3b", "/@%3bx", "/;x=y/../@", "/@;/..", "/@;%2f..", "/%3b/@", "/x/..%3b/@", "/@%253bx"],
  ...[
    "/@%00",
    "/@%00x",
    "/%00/@",
    "/@%0a",
    "/@%0d%0a",
    "/@%09",
    "/@%20",
    "/%20/@",
    "/%20@",
    "/@+",
    "/@.",
    "/@..",
    "/@./x",
  ],
  ...[
    "/@%252f",
    "/@%252fx",
    "/%252f@",
    "/x%252f..%252f@",
    "/%252e%252e/@",
    "/x/%252e%252e/@",
    "/@/%252e%252e",
  ],
  ...["/@%255c", "/x%255c..%255c@", "/%25252e%25252e/@", "/@%25", "/@%", "/@%2", "/@%zz", "/%/@", "/@%u002f"],
  ...[
    "/%c0%af@",
    "/@%c0%af",
    "/x/%c0%ae%c0%ae/@",
    "/%e0%80%af@",
    "/%ef%bc%8f@",
    "/@%ef%bc%8fx",
    "/@%e2%81%84x",
  ],
  ...[
    "/@%3f",
    "/@%3fx",
    "/@%23",
    "/@%23x",
    "/@#",
    "/@#x",
    "/#/@",
    "/?/../@",
    "/x?/../@",
    "/@%253f",
    "/x%3f/../@",
  ],
  ...[
    "/@:",
    "/@::$DATA",
    "/@~",
    "/@!x",
    "/@,x",
    "/@=x",
    "/@*",
    "/@'",
    "/@(",
    "/@|x",
    "/@^",
    "/@$",
    "/@@",
    "/@&x",
  ],
  ...["/index.php/@", "/index.php/@/x", "/index.php%2f@", "/index.php//@", "/index.PHP/@", "/index.php;x/@"],
  ...["/index.php/x/../@", "/index.php\\@", "/open.txt/@", "/open.txt/../@", "/index.php/../@", "/x.php/@"],
  ...["/%e2%80%8b@", "/@%e2%80%8b", "/@%c2%ad", "/@%cc%81", "/.%e2%80%8b./@", "/@%c2%a0", "/%c2%85@"],
] as const;

const LETTERS: Readonly<Record<string, readonly string[]>> = {
  tickets: [
    ...["TICKETS", "Tickets", "%74ickets", "%54ICKETS", "ticket%73", "%74%69%63%6b%65%74%73", "%2574ickets"],
    ...[
      "t%C4%B1ckets",
      "tic%e2%84%aaets",
      "ticket%c5%bf",
      "%ef%bd%94ickets",
      "t%c3%afckets",
      "tick%65ts",
      "tick%2565ts",
    ],
  ],
  "caf%C3%A9": [
    ...[
      "caf%c3%a9",
      "CAF%C3%89",
      "cafe%CC%81",
      "caf%E9",
      "caf\xe9",
      "caf%25C3%25A9",
      `c%61f${bytes("é")}`,
      "cafe",
    ],
    ...[bytes("CAFÉ"), bytes("cafe\u0301"), "caf%c3\xa9"],
  ],
  "my%20tickets": [
    "my+tickets",
    "MY%20TICKETS",
    "my%2520tickets",
    "my%c2%a0tickets",
    "my%20%20tickets",
    "my tickets",
  ],
};

const PATH_HEADERS = [
  "X-Original-URL",
  "X-Rewrite-URL",
  "X-Original-Uri",
  "Script-Name",
  "X-Forwarded-Prefix",
  "Path-Info",
];

/** Every known spelling, each with some method and in each of the given ways. */
export function knownTries(hows: readonly How[]): Try[] {
  const spelled = SPELLINGS.flatMap((spelling, i) =>
    ["tickets", OTHER_WORDS[i % OTHER_WORDS.length]!].map((word) => spelling.replaceAll("@", word)),
  );
  const lettered = Object.values(LETTERS)
    .flat()
    .flatMap((word) => [`/${word}`, `/${word}/x`, `/x/../${word}`]);
  const paths = [...spelled, ...lettered];
  const tries = paths.map((path, i): Try => {
    return { how: hows[i % hows.length]!, method: METHODS[(i * 3) % METHODS.length]!, path, headers: [] };
  });
  const told = PATH_HEADERS.flatMap((name): Try[] => [
    { how: "1.1", method: "GET", path: "/open", headers: [`${name}: /tickets/x`] },
    {
      how: "1.1",
      method: "GET",
      path: "/open/tickets/x",
      headers: [`${name}: /open`, `X-Script-Name: /open`],
    },
    { how: "1.1", method: "POST", path: "/open", headers: [`${name.replaceAll("-", "_")}: /tickets/x`] },
  ]);
  return [...tries, ...told];
}

const NOISE = fc.constantFrom(
  ...[
    "/",
    "/",
    "//",
    "\\",
    ".",
    "..",
    "/../",
    "/./",
    "%2f",
    "%2F",
    "%5c",
    "%2e",
    "%2e%2e",
    ";",
    ";x",
    ";/",
    "%3b",
  ],
  ...[
    "%00",
    "%0a",
    "%09",
    "%20",
    "+",
    "%",
    "%25",
    "%252f",
    "%252e",
    "%255c",
    "%c0%af",
    "%c3%a9",
    "%e2%80%8b",
    "%ef%bc%8f",
  ],
  ...[
    "\xc3\xa9",
    "\xff",
    "?",
    "#",
    ":",
    "~",
    "x",
    "X",
    "x.php",
    "index.php",
    "tickets",
    "a.b",
    "2f",
    "5c",
    "2e",
    "@",
    "|",
  ],
);

/** A guarded name, sometimes with one letter written differently. */
const word = fc
  .tuple(
    fc.constantFrom("tickets", "tickets", bytes("café"), "caf%C3%A9", "my%20tickets"),
    fc.nat(11),
    fc.constantFrom("as it is", "as it is", "encoded", "upper case", "encoded twice"),
  )
  .map(([name, at, how]) => {
    const letter = name.charAt(at);
    return /[a-z]/.test(letter) ? name.slice(0, at) + rewritten(letter, how) + name.slice(at + 1) : name;
  });

function rewritten(letter: string, how: string): string {
  const digits = letter.charCodeAt(0).toString(16);
  if (how === "encoded") return `%${digits}`;
  if (how === "encoded twice") return `%25${digits}`;
  return how === "upper case" ? letter.toUpperCase() : letter;
}

const noise = (maxLength: number) =>
  fc.array(NOISE, { maxLength, size: "max" }).map((pieces) => pieces.join(""));

/** What some sites ignore. */
const BEFORE = fc.constantFrom(
  ...[
    "",
    "",
    "",
    "/",
    ".//",
    "./",
    "%2e/",
    "x/../",
    "x/%2e%2e/",
    "x//../",
    "x\\..\\",
    "\\",
    "x/..\\",
    "../",
    "%20/",
  ],
  ...[
    ";x/",
    "x/..;/",
    "%2f",
    "x%2f..%2f",
    "x%5c..%5c",
    "%5c",
    "index.php/",
    "index.php%2f",
    "%252f",
    "%e2%80%8b",
  ],
);
const AFTER = fc.constantFrom(
  ...[
    "",
    "",
    "/",
    "/x",
    "/..",
    "/x/..",
    "//../buy",
    "/%2e%2e",
    "\\..",
    "%2f..",
    "%2fx",
    "%5cx",
    ";x",
    ";/x",
    "?x",
    "%3fx",
  ],
  ...["%20", ".", "%00", "%252f", "%25", ":x", "~", "/x\\..\\..", "%2fx%5c..%5c", "/../%2e", "/..;/"],
);

/** Mostly a guarded name with something odd around it; sometimes only noise. */
const oddPath = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(BEFORE, word, AFTER, noise(1)).map((parts) => `/${parts.join("")}`) },
  { weight: 2, arbitrary: fc.tuple(BEFORE, BEFORE, word, noise(2)).map((parts) => `/${parts.join("")}`) },
  { weight: 2, arbitrary: fc.tuple(noise(3), word, AFTER, AFTER).map((parts) => `/${parts.join("")}`) },
  { weight: 1, arbitrary: noise(9).map((text) => `/${text}`) },
);

/** Generated tries. The same seed gives the same ones. */
export function madeUpTries(seed: number, numRuns: number, hows: readonly How[]): Try[] {
  const made = fc.record({
    how: fc.constantFrom(...hows),
    method: fc.constantFrom(...METHODS),
    path: oddPath,
    headers: fc.constant([]),
  });
  return fc.sample(made, { seed, numRuns });
}

/** Sends every try, some at a time. Returns those that reached the guarded part, and how many reached the site at all. */
export async function sendAll(
  tries: readonly Try[],
  send: (tried: Try) => Promise<string>,
  senders = 16,
): Promise<{ through: string[]; open: number }> {
  const through: string[] = [];
  let open = 0;
  const left = tries[Symbol.iterator]();
  const sender = async () => {
    for (const tried of left) {
      const answer = await send(tried);
      if (answer.includes(SITE_WORDS) || /^x-guarded:/im.test(answer)) through.push(describe(tried));
      else if (/\bopen$/.test(answer)) open++;
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  return { through, open };
}

function describe({ how, method, path, headers }: Try): string {
  return `${method} ${JSON.stringify(path)} ${how}${headers.map((header) => `, ${header}`).join("")}`;
}

/** Sends one try over a connection of its own; returns all that came back, as text. */
export function sendHttp1(port: number, tried: Try, host = "a.example"): Promise<string> {
  const { how, method, path, headers } = tried;
  const target = how === "absolute" ? `http://${host}${path}` : path;
  const lines = [
    `${how === "upgrade" ? "GET" : method} ${target} HTTP/${how === "1.0" ? "1.0" : "1.1"}`,
    `Host: ${host}`,
    how === "upgrade"
      ? "Connection: Upgrade, close\r\nUpgrade: websocket"
      : "Connection: close\r\nContent-Length: 0",
    ...headers,
  ];
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"));
    });
    socket.setEncoding("latin1").on("data", (text: string) => {
      answer += text;
    });
    // A connection that is cut is an answer too: it gave the attacker nothing.
    socket.on("error", () => socket.destroy()).on("close", () => resolve(answer));
  });
}

/** The same as one stream of an HTTP/2 connection. */
export function sendHttp2(session: ClientHttp2Session, { method, path, headers }: Try): Promise<string> {
  return new Promise((resolve) => {
    const more = Object.fromEntries(headers.map((header) => header.toLowerCase().split(": ")));
    const stream = session.request({ ":method": method, ":path": path, ...more });
    let answer = "";
    stream.on("response", (given) => {
      answer += Object.entries(given)
        .map(([name, value]) => `${name}: ${value}\n`)
        .join("");
    });
    stream.setEncoding("latin1").on("data", (text: string) => {
      answer += text;
    });
    stream.on("error", () => {}).on("close", () => resolve(answer));
    stream.end();
  });
}

export function openHttp2(port: number): ClientHttp2Session {
  const session = http2.connect(`https://localhost:${port}`, { rejectUnauthorized: false });
  return session.on("error", () => {});
}

function bytes(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** How many paths are generated for one site. */
const MADE_UP: Readonly<Record<Scale, number>> = { small: 300, full: 25_000 };

/** The attack on a gateway with one of the sites behind it. */
export const oddPaths: readonly Attack[] = SITES.map((site: SiteName) => ({
  name: `odd paths at ${site}`,
  about: `reach what ${site} guards by a path that the gateway takes for another`,
  room: { path: "/tickets", additionalRoutes: [{ path: "/café" }, { path: "/my%20tickets" }] },
  openSite: () => openSite(site),
  async run({ port }: Target, scale: Scale): Promise<Gain> {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const tries = [...knownTries(HTTP1), ...madeUpTries(seed, MADE_UP[scale], HTTP1)];
    // Only the gateway is measured here, not the site's own capacity.
    const { through } = await sendAll(tries, (tried) => sendHttp1(port, tried), 2);
    return { attempts: tries.length, through: through.length, examples: through.slice(0, 5) };
  },
}));
