/**
 * A node of a cluster as it is written in the settings: where it listens for the others, what they call it, and where it
 * finds them. What these settings mean for each other is checked in `cluster-check.ts`; what they become, secret and
 * certificates read in, is in `cluster-settings.ts`.
 *
 * Nodes compare addresses as texts, so an address is read to the one way in which it is written everywhere.
 */
import { isIPv6 } from "node:net";
import { z } from "zod";
import { duration, listenAddress, readable, text } from "./kinds.ts";
import type { Read } from "./route.ts";

export const CLUSTER_PORT = 7_100;
const PORT_MAX = 65_535;
const ADDRESS_CHARACTERS_MAX = 255;
const NAME_CHARACTERS_MAX = 100;
const FILE_NAME_CHARACTERS_MAX = 4_096;
const SECRET_CHARACTERS_MAX = 1_024;
const JOIN_MAX = 64;
const DNS = "dns:";

/** One way to find other nodes. */
export type JoinPlace =
  | { readonly by: "address"; readonly address: string }
  /** The addresses that a name has, all with this port. */
  | { readonly by: "records"; readonly name: string; readonly port: number }
  /** The hosts and ports that a service (SRV) has. */
  | { readonly by: "service"; readonly name: string };

const fileName = () => text({ max: FILE_NAME_CHARACTERS_MAX, shape: "a file name" }).min(1);

const tlsSchema = z.strictObject({
  certificateFile: fileName().describe(
    "PEM file with this node's certificate, which names the host of its address. A node is server and client.",
  ),
  keyFile: fileName().describe("PEM file with the certificate's private key."),
  caFile: fileName().describe(
    "PEM file with the certificate that all nodes' are signed by: a CA of the cluster's own, since whoever it signs for is let in.",
  ),
});

export const clusterSchema = z.strictObject({
  listen: listenAddress()
    .prefault(`127.0.0.1:${CLUSTER_PORT}`)
    .describe("Address for the other nodes. Visitors have no business there."),
  advertise: readable(readPeerAddress, {
    kind: "address",
    max: ADDRESS_CHARACTERS_MAX,
    shape: `a host and a port such as 10.0.0.7:${CLUSTER_PORT}`,
  })
    .nullable()
    .prefault(null)
    .describe(
      "Address under which the others reach this node. null: the one in `join` that is this machine's, or `listen`, or this machine's only address.",
    ),
  name: readable(readNodeName, {
    kind: "text",
    max: NAME_CHARACTERS_MAX,
    shape: `1 to ${NAME_CHARACTERS_MAX} letters, digits, dots, colons, brackets, hyphens and underscores`,
  })
    .nullable()
    .prefault(null)
    .describe(
      "What this node is called, the same after each restart and unlike all others. null: its address.",
    ),
  join: z
    .array(
      readable(readJoinPlace, {
        kind: "address",
        max: ADDRESS_CHARACTERS_MAX + DNS.length,
        shape: `a host and a port such as 10.0.0.7:${CLUSTER_PORT}, or a name such as dns:fairgate.internal:${CLUSTER_PORT}`,
      }),
    )
    .max(JOIN_MAX)
    .prefault([])
    .meta({
      shape: `a list of at most ${JOIN_MAX} hosts and ports such as 10.0.0.7:${CLUSTER_PORT}, or names such as dns:fairgate.internal:${CLUSTER_PORT}`,
    })
    .describe(
      "Where the nodes are, this one included: the same list everywhere. `dns:` stands for all addresses of a name, or of an SRV record. One that answers is enough. The first in the list, of a name the lowest address, founds the cluster once most of the list are known to be in none; the others wait for it. Empty: this node founds one at every start.",
    ),
  secret: z
    .string()
    .max(SECRET_CHARACTERS_MAX)
    .meta({ kind: "secret", isSecret: true, shape: "a secret of 32 to 1024 characters" })
    .nullable()
    .prefault(null)
    .describe(
      "What all nodes know and nobody else does; not the `secret` at the top. null: one made from that. Better in the environment: FAIRGATE_CLUSTER_SECRET.",
    ),
  secretFile: fileName().nullable().prefault(null).describe("File that holds the cluster's secret instead."),
  tls: tlsSchema
    .nullable()
    .prefault(null)
    .describe(
      "Speak TLS 1.3 with the others, both sides with certificates. null: what is said is sealed with the secret alone.",
    ),
  reclaimAfter: duration({ min: "0s", max: "7d" })
    .nullable()
    .prefault("10m")
    .describe(
      "After this long the slots of a node that cannot be reached are the others' again; a node that is cut off from most of them lets nobody in from then on. The same everywhere. null: only once `fairgate cluster forget` says so. 0s: at once, so that after a cut in the network each part lets people in up to the limit.",
    ),
  maxClockSkew: duration({ min: "1ms", max: "1m" })
    .prefault("1s")
    .describe(
      "How far the nodes' clocks may differ before a node no longer follows the others'. Keep them in step with NTP.",
    ),
  roundInterval: duration({ min: "20ms", max: "10s" })
    .prefault("100ms")
    .describe("Time from one counting of all who wait to the next. People are let in as often."),
});

/** As the file has it, parsed. */
export type ClusterInFile = z.output<typeof clusterSchema>;

/** `10.0.0.7:7100`; without a port it has the usual one. */
export function readPeerAddress(written: string): Read<string> {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(written.trim());
  const host = match ? hostOf(match[1]!) : null;
  if (host === null) return { wrong: "is not a host with a port" };
  const port = Number(match![2] ?? CLUSTER_PORT);
  if (port < 1 || port > PORT_MAX) return { wrong: "has a port that is out of range" };
  return { value: `${host}:${port}` };
}

/** An address, or `dns:` and a name. */
export function readJoinPlace(written: string): Read<JoinPlace> {
  const trimmed = written.trim();
  if (!trimmed.startsWith(DNS)) {
    const read = readPeerAddress(trimmed);
    return "wrong" in read ? read : { value: { by: "address", address: read.value } };
  }
  const match = /^([A-Za-z0-9_][A-Za-z0-9._-]*?)\.?(?::(\d{1,5}))?$/.exec(trimmed.slice(DNS.length));
  const name = match?.[1]?.toLowerCase();
  if (name === undefined || /^[\d.]+$/.test(name)) return { wrong: "has no name after dns:" };
  const port = match![2] === undefined ? null : Number(match![2]);
  if (!name.startsWith("_")) return readRecords(name, port ?? CLUSTER_PORT);
  if (port !== null) return { wrong: "is a service with a port, and its SRV records say the ports" };
  return { value: { by: "service", name } };
}

function readRecords(name: string, port: number): Read<JoinPlace> {
  if (port < 1 || port > PORT_MAX) return { wrong: "has a port that is out of range" };
  return { value: { by: "records", name, port } };
}

/** The one way to write a host; null when it is none. */
function hostOf(written: string): string | null {
  if (!written.startsWith("[")) return /^\d+$/.test(written) ? null : written.toLowerCase();
  // A URL writes an IPv6 address in its shortest form.
  return isIPv6(written.slice(1, -1)) ? new URL(`http://${written}`).hostname : null;
}

/** Names go into ids, letters and logs. */
function readNodeName(written: string): Read<string> {
  if (written === "") return { wrong: "is empty" };
  return /^[A-Za-z0-9._:[\]-]+$/.test(written)
    ? { value: written }
    : { wrong: "has a character in it that it cannot have" };
}
