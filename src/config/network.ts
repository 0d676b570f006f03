/** An IP address, or a network: an address with the length of a prefix. */
import { isIP } from "node:net";
import { readable } from "./kinds.ts";

const PREFIX_MAX = { 4: 32, 6: 128 } as const;

/** The setting of this kind. */
export function network() {
  return readable(readNetwork, {
    kind: "network",
    max: 100,
    shape: "an address or network such as 10.0.0.0/8",
  });
}

function readNetwork(written: string): { value: string } | { wrong: string } {
  const text = written.trim();
  const [address = "", prefix, ...rest] = text.split("/");
  const family = address.includes("%") ? 0 : isIP(address);
  if (family === 0 || rest.length > 0) return { wrong: "is not an IP address or network" };
  // Nobody could tell whether the prefix is one of IPv4 or of IPv6.
  if (family === 6 && address.includes(".")) return { wrong: "is an IPv4 address written as IPv6" };
  if (prefix === undefined) return { value: text };
  const isPrefix = /^\d{1,3}$/.test(prefix) && Number(prefix) <= PREFIX_MAX[family as 4 | 6];
  return isPrefix ? { value: text } : { wrong: "has a prefix length that is out of range" };
}
