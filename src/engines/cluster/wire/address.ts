/**
 * Addresses of peers: `host:port`, with brackets around an IPv6 host. Addresses are compared as texts, so each must be written in
 * one way only: a peer's own address is the one that others dial.
 */
const ADDRESS_CHARACTERS_MAX = 255;
const PORT_MAX = 65_535;

export interface PeerEndpoint {
  readonly host: string;
  readonly port: number;
}

/** Host and port of an address; null when it is invalid. Port 0 is. */
export function endpointOf(address: string): PeerEndpoint | null {
  if (address.length > ADDRESS_CHARACTERS_MAX) return null;
  const match = /^(?:\[([0-9a-f.]*:[0-9a-f:.]*)\]|([\w.-]+)):(\d{1,5})$/i.exec(address);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && port > 0 && port <= PORT_MAX ? { host, port } : null;
}
