/**
 * A cluster node's settings: where it listens for the other nodes, under which address and name they know it, and how it
 * finds them. What these settings mean for each other is checked in `cluster-check.ts`; `cluster-settings.ts` adds the
 * secret and certificates.
 *
 * Nodes compare addresses as texts, so an address is read to one form, the same on every node.
 */
import { z } from "zod";
import {
  duration,
  fileName,
  formatHostPort,
  listenAddress,
  listOf,
  readable,
  secret,
  setting,
} from "./kinds.ts";
import { type Read, readHostPort } from "./route.ts";

export const CLUSTER_PORT = 7_100;
const ADDRESS_CHARACTERS_MAX = 255;
const NAME_CHARACTERS_MAX = 100;
const JOIN_MAX = 64;
const DNS = "dns:";

/** One way to find other nodes. */
export type EntryNode =
  | { readonly by: "address"; readonly address: string }
  /** The addresses of a name, all with this port. */
  | { readonly by: "records"; readonly name: string; readonly port: number }
  /** The hosts and ports of a service (SRV). */
  | { readonly by: "service"; readonly name: string };

const tlsSchema = z.strictObject({
  certificateFile: fileName().describe(
    "PEM file with this node's certificate, valid for the host of its address, as server and as client.",
  ),
  keyFile: fileName().describe("PEM file with the certificate's private key."),
  caFile: fileName().describe(
    "PEM file with the CA certificate that signed all nodes' certificates. Use a CA only for the cluster: any certificate it signs is accepted as a node.",
  ),
});

export const clusterSchema = z.strictObject({
  listen: setting(listenAddress(), `127.0.0.1:${CLUSTER_PORT}`).describe(
    "Address for the other nodes. Keep it where visitors cannot reach it.",
  ),
  advertise: setting(
    readable(readPeerAddress, {
      kind: "address",
      max: ADDRESS_CHARACTERS_MAX,
      shape: `a host and a port such as 10.0.0.7:${CLUSTER_PORT}`,
    }),
    null,
  ).describe(
    "Address under which the other nodes reach this one. null: the one in `join` that is this machine's, or `listen`, or this machine's only address.",
  ),
  name: setting(
    readable(readNodeName, {
      kind: "text",
      max: NAME_CHARACTERS_MAX,
      shape: `1 to ${NAME_CHARACTERS_MAX} letters, digits, dots, colons, brackets, hyphens and underscores`,
    }),
    null,
  ).describe("Name of this node, unique in the cluster and the same after each restart. null: its address."),
  join: setting(
    listOf(
      readable(readEntryNode, {
        kind: "address",
        max: ADDRESS_CHARACTERS_MAX + DNS.length,
        shape: `a host and a port such as 10.0.0.7:${CLUSTER_PORT}, or a name such as dns:fairgate.internal:${CLUSTER_PORT}`,
      }),
      {
        max: JOIN_MAX,
        of: `hosts and ports such as 10.0.0.7:${CLUSTER_PORT}, or names such as dns:fairgate.internal:${CLUSTER_PORT}`,
      },
    ),
    [],
  ).describe(
    "Entry nodes: the addresses of the nodes, this one included, the same list on every node. `dns:` stands for all addresses of a name, or of an SRV record. A node joins through any one that answers. The first node in the list (of a name, the one with the lowest address) creates the cluster once a majority of the listed nodes have confirmed that they belong to none; the others wait for it. Empty: this node creates a cluster of its own at every start.",
  ),
  secret: setting(secret("a secret"), null).describe(
    "Secret that all nodes share, different from the `secret` at the top. null: derived from that one. Better in the environment: FAIRGATE_CLUSTER_SECRET.",
  ),
  secretFile: setting(fileName(), null).describe("File that holds the cluster's secret instead."),
  tls: setting(tlsSchema, null).describe(
    "Use TLS 1.3 between the nodes, with certificates on both sides. null: messages are encrypted with the secret alone.",
  ),
  reclaimAfter: setting(duration({ min: "0s", max: "7d" }).nullable(), "10m").describe(
    "How long after a node became unreachable the others take over its slots; a node that is cut off from the majority admits nobody from then on. The same on every node. null: only after `fairgate cluster forget`. 0s: at once, so that in a network partition each part admits visitors up to the limit.",
  ),
  maxClockSkew: setting(duration({ min: "1ms", max: "1m" }), "1s").describe(
    "How far the nodes' clocks may differ; beyond that a node ignores the others' times. Synchronise the clocks with NTP.",
  ),
  roundInterval: setting(duration({ min: "20ms", max: "10s" }), "100ms").describe(
    "Time from one count of all waiting visitors to the next. Visitors are admitted once per count.",
  ),
});

/** As in the file, parsed. */
export type ClusterInFile = z.output<typeof clusterSchema>;

/** `10.0.0.7:7100`; without a port it has the usual one. */
export function readPeerAddress(written: string): Read<string> {
  const read = readHostPort(written, CLUSTER_PORT);
  return "wrong" in read ? read : { value: formatHostPort(read.value) };
}

/** An address, or `dns:` and a name. */
export function readEntryNode(written: string): Read<EntryNode> {
  const trimmed = written.trim();
  if (!trimmed.startsWith(DNS)) {
    const read = readPeerAddress(trimmed);
    return "wrong" in read ? read : { value: { by: "address", address: read.value } };
  }
  const match = /^([A-Za-z0-9_][A-Za-z0-9._-]*?)\.?(?::(\d{1,5}))?$/.exec(trimmed.slice(DNS.length));
  const name = match?.[1]?.toLowerCase();
  if (name === undefined || /^[\d.]+$/.test(name)) return { wrong: "has no name after dns:" };
  const port = match![2] === undefined ? null : Number(match![2]);
  if (!name.startsWith("_")) {
    const read = readHostPort(`${name}:${port ?? CLUSTER_PORT}`, CLUSTER_PORT);
    return "wrong" in read ? read : { value: { by: "records", name, port: read.value.port } };
  }
  if (port !== null) return { wrong: "is a service with a port, and its SRV records say the ports" };
  return { value: { by: "service", name } };
}

/** Names go into ids, messages and logs. */
function readNodeName(written: string): Read<string> {
  if (written === "") return { wrong: "is empty" };
  return /^[A-Za-z0-9._:[\]-]+$/.test(written)
    ? { value: written }
    : { wrong: "has a character in it that it cannot have" };
}
