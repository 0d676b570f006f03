/**
 * Addresses of peers: `host:port`, with brackets around an IPv6 host. Two addresses are the same when their texts are,
 * so nobody may write one in two ways: what a peer calls itself is what others must dial.
 */
const ADDRESS_CHARACTERS_MAX = 255;
const PORT_MAX = 65_535;

export interface PeerPlace {
  readonly host: string;
  readonly port: number;
}

/** Where an address leads; null when it is not one. Port 0 leads nowhere. */
export function placeOf(address: string): PeerPlace | null {
  if (address.length > ADDRESS_CHARACTERS_MAX) return null;
  const match = /^(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([\w.-]+)):(\d{1,5})$/i.exec(address);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && port > 0 && port <= PORT_MAX ? { host, port } : null;
}
