/** A draw's record in one text; the product sends it in parts. */
import type { DrawRecord } from "../core/draw.ts";
import { recordParts } from "../core/draw-record.ts";

export function recordText(room: string, record: DrawRecord): string {
  const decoder = new TextDecoder();
  return Array.from(recordParts(room, record), (part) => decoder.decode(part)).join("");
}
