/**
 * Messages as bytes: all that one turn had to say to a peer, as one MessagePack array.
 *
 * Messages are plain values: null, booleans, numbers, texts, bytes, arrays, and objects. What else MessagePack libraries
 * know (dates, sets, patterns, errors, references) is refused by those who read, and so is a frame with anything after
 * its end. A key `__proto__` comes out as `__proto_`, an ordinary key.
 *
 * The library's build without `eval` is used: it never loads its optional native part, never makes code of what came in,
 * and is a copy of its own, so that what is refused here is not refused elsewhere. Objects go as maps, not as the
 * library's records. Those save a third of small messages, but little where the bulk is arrays (4 % of 18 KB), and an
 * object with the key `__keys__` breaks the packer for all that is packed later.
 */
import { createRequire } from "node:module";

const { Packr, addExtension } = createRequire(import.meta.url)(
  "msgpackr/index-no-eval",
) as typeof import("msgpackr");

/** Big integers, bundled texts, errors, ids, references, sets, typed arrays, patterns, dates. */
const REFUSED_TYPES = [0x42, 0x62, 0x65, 0x69, 0x70, 0x73, 0x74, 0x78, 0xff];
for (const type of REFUSED_TYPES)
  addExtension({
    type,
    unpack: () => {
      throw new TypeError(`messages have no values of type ${type}`);
    },
  });

const packr = new Packr({
  useRecords: false,
  mapsAsObjects: true,
  structuredClone: false,
  moreTypes: false,
  int64AsType: "number",
  // A few bytes that someone keeps would keep a whole frame in memory.
  copyBuffers: true,
});

/** The body of a frame that carries these messages; null when one of them is nothing to pack, as what holds itself. */
export function packMessages(messages: readonly unknown[]): Buffer | null {
  try {
    // A copy, since the packer's own memory is shared by all that is packed: one batch that waits would keep megabytes.
    return Buffer.from(packr.pack(messages));
  } catch {
    return null;
  }
}

/** The messages in a frame's body; null when it is no such thing. */
export function unpackMessages(body: Buffer): unknown[] | null {
  try {
    const messages: unknown = packr.unpack(body);
    return Array.isArray(messages) ? messages : null;
  } catch {
    return null;
  }
}
