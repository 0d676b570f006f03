/**
 * Which of a cluster's hash slots a key belongs to: CRC16 (XMODEM) of what is between the first `{` and the next `}`, or of
 * the whole key when there is nothing between them. Redis Cluster specification, "Key distribution model".
 */
export const SLOT_COUNT = 16_384;
const POLYNOMIAL = 0x1021;

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
  return crc;
});

/** The hash slot of a key. */
export function keySlot(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashed(key), "utf8")) crc = (crc << 8) ^ TABLE[((crc >> 8) ^ byte) & 0xff]!;
  return crc & (SLOT_COUNT - 1);
}

function hashed(key: string): string {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}
