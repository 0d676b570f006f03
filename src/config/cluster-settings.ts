/**
 * A cluster node's settings, complete: what the engine and its transport are opened with. The cluster's secret comes from
 * the environment, from a file of its own or from the settings file, in that order. No message contains it.
 */
import { CERTIFICATE, checkTls, fileText, readPem } from "./check-files.ts";
import type { ClusterInFile, EntryNode } from "./cluster-schema.ts";
import { formatHostPort, type HostPort } from "./kinds.ts";
import type { Finding, Path } from "./problem.ts";
import type { Known } from "./salvage.ts";
import { chooseSecret, type SecretSources } from "./secrets.ts";

const CLUSTER_SECRET_VARIABLE = "FAIRGATE_CLUSTER_SECRET";
const TLS_PATH: Path = ["cluster", "tls"];

export interface ClusterSettings {
  readonly listen: HostPort;
  /** `host:port`; null: found out at the start. */
  readonly advertise: string | null;
  /** Null: the address. */
  readonly name: string | null;
  /** The entry nodes. The first creates the cluster when most are known to be in none. */
  readonly join: readonly EntryNode[];
  /** Null: derived from the secret that signs tickets. */
  readonly secret: string | null;
  readonly tls: ClusterTls | null;
  /** Null: never. 0: at once. */
  readonly reclaimAfterMs: number | null;
  readonly skewMaxMs: number;
  readonly intervalMs: number;
}

/** PEM texts. */
export interface ClusterTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** The secret and files that the settings of a cluster name, read. */
export interface ClusterSecrets {
  readonly secret: string | null;
  readonly tls: ClusterTls | null;
  readonly problems: readonly Finding[];
  readonly cautions: readonly Finding[];
}

/** The cluster's secret and certificates, or what is wrong with them. */
export function readClusterSecrets(
  cluster: Known<ClusterInFile> | null,
  sources: SecretSources,
): ClusterSecrets {
  if (cluster === null) return { secret: null, tls: null, problems: [], cautions: [] };
  const { secrets, problems, cautions } = chooseSecret(
    {
      what: "secret",
      variable: CLUSTER_SECRET_VARIABLE,
      path: ["cluster", "secret"],
      value: cluster.secret,
      fileName: cluster.secretFile,
    },
    sources,
  );
  const tls = readTls(cluster.tls ?? {}, sources);
  return { secret: secrets[0] ?? null, tls: tls.texts, problems: [...problems, ...tls.problems], cautions };
}

/** A node that knows the cluster's secret could sign passes if it were also the visitors' own. */
export function checkClusterSecret(own: string | null, others: readonly (string | null)[]): Finding[] {
  if (own === null || !others.includes(own)) return [];
  const message = "the cluster's secret is the one that signs tickets and passes";
  const hint = "Make a separate one with `fairgate keys new`, or take it out: then one is derived from that.";
  return [{ code: "conflict", path: ["cluster", "secret"], at: "key", message, hint }];
}

function readTls(
  { certificateFile, keyFile, caFile }: Known<NonNullable<ClusterInFile["tls"]>>,
  { read }: SecretSources,
): { texts: ClusterTls | null; problems: Finding[] } {
  const problems = [
    ...checkTls({ certificateFile, keyFile } as Parameters<typeof checkTls>[0], read, TLS_PATH),
    ...readPem([...TLS_PATH, "caFile"], caFile, read, CERTIFICATE).findings,
  ];
  if (problems.length > 0 || !certificateFile || !keyFile || !caFile) return { texts: null, problems };
  const [cert, key, ca] = [certificateFile, keyFile, caFile].map((fileName) => fileText(fileName, read));
  return { texts: { cert: cert!, key: key!, ca: ca! }, problems };
}

/** What a node is opened with, from settings that passed every check. */
export function toClusterSettings(cluster: ClusterInFile, { secret, tls }: ClusterSecrets): ClusterSettings {
  const { listen, advertise, name, join, reclaimAfter, maxClockSkew, roundInterval } = cluster;
  return {
    ...{ listen, advertise, name, join, secret, tls },
    reclaimAfterMs: reclaimAfter,
    skewMaxMs: maxClockSkew,
    intervalMs: roundInterval,
  };
}

/** Where the node is, in words without secrets. */
export function describeCluster({ listen, join, tls }: ClusterSettings): string {
  const others =
    join.length === 0 ? "creating its own cluster" : `by ${join.map(formatEntryNode).join(", ")}`;
  return `a node that listens at ${formatHostPort(listen)}, ${others}${tls ? ", with TLS" : ""}`;
}

/** An entry of `join` as people write it. */
export function formatEntryNode(entry: EntryNode): string {
  if (entry.by === "address") return entry.address;
  return entry.by === "service" ? `dns:${entry.name}` : `dns:${entry.name}:${entry.port}`;
}
