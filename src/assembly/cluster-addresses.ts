/**
 * Finds the addresses of a cluster's nodes from the settings and DNS, and which of them is this node's own.
 *
 * Every node finds the same list in the same order, so that all agree which node creates the cluster when none answers: in
 * the written order, or, with a name in the list, from the lowest address to the highest. Of a name with both kinds of
 * addresses only IPv4 counts, or every node would be listed twice.
 */
import { lookup, resolveSrv } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { EVERY_ADDRESS, isLoopback } from "../config/cluster-check.ts";
import type { EntryNode } from "../config/cluster-schema.ts";
import { type ClusterSettings, formatEntryNode } from "../config/cluster-settings.ts";
import { formatHostPort } from "../config/kinds.ts";

const ADDRESSES_MAX = 64;
const SHOWN_MAX = 8;

/** Name lookup, this machine's own addresses, and waiting, replaceable in tests. */
export interface Machine {
  /** All addresses of a host; rejects if there are none. */
  addressesOf(host: string): Promise<readonly string[]>;
  /** All hosts of a service; rejects if there are none. */
  hostsOf(service: string): Promise<readonly { readonly name: string; readonly port: number }[]>;
  /** This machine's addresses. */
  own(): readonly { readonly address: string; readonly internal: boolean }[];
  /** Also keeps the process alive: before the start nothing else does. */
  pause(ms: number): Promise<void>;
}

/** The machine that this process runs on. */
export const MACHINE_HERE: Machine = {
  addressesOf: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  hostsOf: (service) => resolveSrv(service),
  own: () => Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []),
  pause: (ms) => pause(ms),
};

export interface Found {
  /** `host:port`, in the same order on every node. */
  readonly addresses: readonly string[];
  /** A sentence for each name that could not be found. */
  readonly problems: readonly string[];
}

/** All nodes the settings name. */
export async function findNodes(join: readonly EntryNode[], machine: Machine): Promise<Found> {
  const found = await Promise.all(join.map((entry) => findEntryNode(entry, machine)));
  const addresses = [...new Set(found.flatMap((each) => each.addresses))].slice(0, ADDRESSES_MAX);
  return {
    addresses: isByName(join) ? inOrder(addresses) : addresses,
    problems: found.flatMap((each) => each.problems),
  };
}

/** True if the list depends on DNS. */
export function isByName(join: readonly EntryNode[]): boolean {
  return join.some(({ by }) => by !== "address");
}

async function findEntryNode(entry: EntryNode, machine: Machine): Promise<Found> {
  if (entry.by === "address") return { addresses: [entry.address], problems: [] };
  try {
    const addresses =
      entry.by === "records"
        ? oneKind(await machine.addressesOf(entry.name)).map((host) =>
            formatHostPort({ host, port: entry.port }),
          )
        : (await machine.hostsOf(entry.name)).map(({ name, port }) => `${hostName(name)}:${port}`);
    return { addresses, problems: [] };
  } catch (cause) {
    return { addresses: [], problems: [`${formatEntryNode(entry)} ${whyNotFound(cause)}`] };
  }
}

function whyNotFound(cause: unknown): string {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  if (code === "ENOTFOUND" || code === "ENODATA") return "has no addresses: the name is unknown";
  if (code === "EAI_AGAIN" || code === "ETIMEOUT")
    return "cannot be looked up: the name server does not answer";
  return `cannot be looked up (${code || message})`;
}

/**
 * The address under which the other nodes reach this one: the setting, or the one in the list where this node listens, or
 * where it listens, or this machine's only address. Throws with a message for people if there is none.
 */
export async function ownAddress(
  { advertise, listen }: Pick<ClusterSettings, "advertise" | "listen">,
  nodes: readonly string[],
  machine: Machine,
): Promise<string> {
  if (advertise !== null) return advertise;
  const isEverywhere = EVERY_ADDRESS.has(listen.host);
  const here = new Set(isEverywhere ? machine.own().map(({ address }) => address) : []);
  if (!isEverywhere) for (const address of await addressesOf(listen.host, machine)) here.add(address);
  const isHere = async (host: string) => {
    const addresses = await addressesOf(host, machine);
    return addresses.some((address) => here.has(address) || (isEverywhere && isLoopback(address)));
  };
  for (const node of nodes) {
    const { host, port } = partsOf(node);
    if (port === listen.port && (await isHere(host))) return node;
  }
  return isEverywhere ? onlyAddress(listen.port, machine) : formatHostPort(listen);
}

function onlyAddress(port: number, machine: Machine): string {
  const outside = oneKind(
    machine
      .own()
      .filter(({ address, internal }) => !internal && !address.startsWith("fe80:"))
      .map(({ address }) => address),
  );
  const [only] = outside;
  if (only !== undefined && outside.length === 1) return formatHostPort({ host: only, port });
  const has = outside.length === 0 ? "none" : outside.slice(0, SHOWN_MAX).join(", ");
  throw new Error(
    `it is not clear under which address the other nodes reach this one (this machine has ${has}); set cluster.advertise, or --cluster-advertise, to it`,
  );
}

/** The addresses of a host; none for an unknown name. */
async function addressesOf(host: string, machine: Machine): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    return await machine.addressesOf(host);
  } catch {
    return [];
  }
}

/** The IPv4 addresses, or if there are none the IPv6 ones. */
function oneKind(addresses: readonly string[]): readonly string[] {
  const short = addresses.filter((address) => isIP(address) === 4);
  return short.length > 0 ? short : addresses;
}

/** Sorted by the numbers in them: 10.0.0.9 is before 10.0.0.10. */
export function inOrder(addresses: readonly string[]): string[] {
  const key = (address: string) => address.replace(/\d+/g, (digits) => digits.padStart(5, "0"));
  return addresses.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

function hostName(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

function partsOf(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "");
  return { host, port: Number(address.slice(colon + 1)) };
}
