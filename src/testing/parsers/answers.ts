/** Parsers of answers from origins, key servers, Redis and peers, which may be compromised, too. */
import { parseKeySet } from "../../config/jwt-keys.ts";
import { entriesIn } from "../../engines/cluster/log/entry-blocks.ts";
import { endpointOf } from "../../engines/cluster/wire/address.ts";
import { isMessageBody } from "../../engines/cluster/wire/body-shapes.ts";
import { FRAME_BYTES_MAX, FrameReader, lengthPrefix } from "../../engines/cluster/wire/frames.ts";
import { AcceptorHandshake, secretKey } from "../../engines/cluster/wire/handshake.ts";
import { unpackMessages } from "../../engines/cluster/wire/packing.ts";
import { redisProblemOf } from "../../engines/redis/link/problem.ts";
import { addressIn } from "../../engines/redis/link/servers.ts";
import { readHandle } from "../../engines/redis/relaxed/handle.ts";
import { personalCacheControl } from "../../gateway/cache-control.ts";
import { commandIn, responseHeaders } from "../../gateway/headers.ts";
import { createOwnLinks } from "../../gateway/proxy/own-links.ts";
import { createTrust } from "../../gateway/proxy/trust.ts";
import { again, type Parser } from "./parser.ts";

const context = { added: ["Set-Cookie", "fairgate_main=a"], isPersonal: true, canTrail: true };
const CLIENT = createTrust([]).client({ socket: {}, headers: { host: "shop.example" } });
const ownLinks = createOwnLinks({ hostHeader: "shop.internal", addresses: ["http://10.0.0.1:3000"] })!;
const REDIS = { where: "redis:6379", mode: "standalone", isSentinel: false } as const;
const handshake = () =>
  new AcceptorHandshake({ self: "a:1", secret: secretKey("secret"), nonce: Buffer.alloc(32) });

const origins: readonly Parser[] = [
  {
    name: "origin: Cache-Control",
    // The last answer is remembered, so another one comes in between.
    read: (text) => personalCacheControl("") + personalCacheControl(text),
    worst: [
      again('a="'),
      again("a="),
      again(" ", { before: "a", after: "b" }),
      again("public,"),
      again('"', { before: "a=" }),
    ],
  },
  {
    name: "origin: Set-Cookie",
    read: (text) => responseHeaders(lines("Set-Cookie", text, 40), context),
    worst: [again(" "), again("fairgate_a=1;"), again("__Host-")],
  },
  {
    name: "origin: Location",
    read: (text) => ownLinks.rewrite(["Location", text, "Location", `http://${text}`], CLIENT),
    worst: [again("/"), again("http://"), again("a.", { before: "http://" }), again("http://10.0.0.1:3000")],
  },
  {
    name: "origin: Refresh",
    read: (text) => ownLinks.rewrite(["Refresh", text, "Refresh", `5;url=${text}`], CLIENT),
    worst: [
      again("0", { after: ";" }),
      again(" ", { before: "5", after: ";" }),
      again(" ", { before: "5;url" }),
    ],
  },
  {
    name: "origin: cookie domain",
    read: (text) => ownLinks.rewrite(["Set-Cookie", text], CLIENT),
    worst: [again(";domain=shop.internal"), again(";"), again(" ", { before: ";domain", after: "=" })],
  },
  {
    name: "origin: Connection",
    read: (text) => responseHeaders(["Connection", text, "A", "b"], context),
    worst: [again("a,"), again(",")],
  },
  {
    name: "origin: headers, many",
    read: (text) => [responseHeaders(lines("a-cache-control", text, 20), context), commandIn(["a", text])],
    worst: [again("a-")],
  },
  {
    name: "origin: header names",
    read: (text) => responseHeaders([text, "a", `f${text}`, "b", `${text}-cache-control`, "c"], context),
    worst: [again("a-"), again("-cache-control")],
  },
  {
    name: "key set",
    read: parseKeySet,
    worst: [
      again("[", { before: '{"keys":' }),
      again("{},", { before: '{"keys":[', after: "{}]}" }),
      again('{"a":'),
    ],
  },
];

const redis: readonly Parser[] = [
  {
    name: "Redis: error",
    read: (text) => redisProblemOf(new Error(text), REDIS),
    worst: [
      again("ERR no permissions "),
      again("NOPERM "),
      again(" script: "),
      again(", with args beginning with"),
      again(" with args"),
    ],
  },
  { name: "Redis: address", read: addressIn, worst: [again("a:"), again("[::1]:")] },
  {
    name: "relaxed queue: handle",
    read: (text) => attempt(() => readHandle(text, 8)),
    worst: [again("a", { before: `1.${"0".repeat(16)}.` }), again("1.")],
  },
];

const peers: readonly Parser[] = [
  {
    name: "peer: frame in single bytes",
    read: (text) => readFrames(text, 1),
    worst: [],
  },
  {
    name: "peer: many frames",
    read: (text) => readFrames(text, 4_096),
    worst: [again("\x00"), again("\x00\x00\x00\x01a")],
  },
  {
    name: "peer: hello",
    read: (text) => handshake().receive(Buffer.from(text, "latin1")),
    worst: [again("FGPR")],
  },
  {
    name: "peer: messages",
    read: (text) => unpackMessages(Buffer.from(text, "latin1"))?.every(isMessageBody),
    worst: [
      again("\x91"),
      again("\x81\xa1a"),
      again("\xdc\xff\xff"),
      again("\xc4\x01a", { before: "\xdd\x00\x00\xff\xff" }),
    ],
  },
  {
    name: "peer: entries",
    read: (text) => entriesIn([4_000, Buffer.from(text, "latin1")]),
    worst: [again("\x01\x00\x00\x00a\x01\x00\x00\x00"), again("\x00\x00\x00\x00")],
  },
  { name: "peer: address", read: endpointOf, worst: [again("a:"), again("["), again("a.")] },
];

export const ANSWER_PARSERS: readonly Parser[] = [...origins, ...redis, ...peers];

/** A text in as many header lines as there is text for. */
function lines(name: string, text: string, letters: number): string[] {
  const raw: string[] = [];
  for (let at = 0; at < text.length; at += letters) raw.push(name, text.slice(at, at + letters));
  return raw;
}

/** A frame with the text in it, and after that the raw text, in chunks of this many bytes. */
function readFrames(text: string, pieceBytes: number): number {
  const reader = new FrameReader(FRAME_BYTES_MAX);
  const body = Buffer.from(text, "latin1");
  const whole = Buffer.concat([lengthPrefix(body.length), body, body]);
  let frames = 0;
  for (let at = 0; at < whole.length; at += pieceBytes) {
    reader.push(whole.subarray(at, at + pieceBytes));
    let frame = reader.next();
    for (; typeof frame !== "string"; frame = reader.next()) frames++;
    if (frame === "tooBig") break;
  }
  return frames;
}

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
