/**
 * Messages as bytes: everything that is sent to a peer in one turn of the event loop, as one MessagePack array.
 *
 * Messages are plain values: null, booleans, numbers, texts, bytes, arrays, and objects. Other types that MessagePack libraries
 * know (dates, sets, patterns, errors, references) are refused on reading, and so is a frame with anything after its end. A key
 * `__proto__` becomes `__proto_`, an ordinary key.
 *
 * We use the library's build without `eval`: it never loads its optional native part, never makes code of its input, and is a
 * copy of its own, so that types refused here are not refused elsewhere. Objects go as maps, not as the library's records:
 * records save a third of small messages but little where the bulk is arrays (4 % of 18 KB), and an object with the key
 * `__keys__` breaks the packer for everything packed later.
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
  // Otherwise a few bytes that are kept would keep a whole frame in memory.
  copyBuffers: true,
});

/** The body of a frame with these messages; null when one cannot be packed, such as one that contains itself. */
export function packMessages(messages: readonly unknown[]): Buffer | null {
  try {
    // A copy, since the packer's memory is shared: one waiting batch would keep megabytes.
    return Buffer.from(packr.pack(messages));
  } catch {
    return null;
  }
}

/** The messages in a frame's body; null when it is malformed. */
export function unpackMessages(body: Buffer): unknown[] | null {
  try {
    const messages: unknown = packr.unpack(body);
    return Array.isArray(messages) ? messages : null;
  } catch {
    return null;
  }
}
