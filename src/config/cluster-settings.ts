/**
 * A node of a cluster, complete: what the engine and its transport are opened with. The cluster's secret comes from the
 * environment, from a file of its own or from the settings file, in that order, as every secret does. No words about any
 * of this hold it.
 */
import { checkAuthority, checkTls, type FileAnswer } from "./check-files.ts";
import type { ClusterInFile, JoinPlace } from "./cluster-schema.ts";
import { formatListen, type Listen } from "./kinds.ts";
import type { Finding, Path } from "./problem.ts";
import type { Known } from "./salvage.ts";
import { chooseSecret } from "./secrets.ts";

export const CLUSTER_SECRET_VARIABLE = "FAIRGATE_CLUSTER_SECRET";
const TLS_PATH: Path = ["cluster", "tls"];

export interface ClusterSettings {
  readonly listen: Listen;
  /** `host:port`; null: to be found out at the start. */
  readonly advertise: string | null;
  /** Null: the address. */
  readonly name: string | null;
  /** Where the nodes are. The first founds the cluster when most are known to be in none. */
  readonly join: readonly JoinPlace[];
  /** Null: one made from the secret that signs tickets. */
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

/** What the settings of a cluster point to, read. */
export interface ClusterSecrets {
  readonly secret: string | null;
  readonly tls: ClusterTls | null;
  readonly problems: readonly Finding[];
  readonly cautions: readonly Finding[];
}

interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Reads a file that the settings name. */
  readonly read: (fileName: string) => FileAnswer;
}

/** The secret and the certificates from wherever they are, or what is wrong with them. */
export function readClusterSecrets(
  cluster: Known<ClusterInFile> | null,
  sources: SecretSources,
): ClusterSecrets {
  if (cluster === null) return { secret: null, tls: null, problems: [], cautions: [] };
  const { secrets, problems, cautions } = chooseSecret({
    ...sources,
    what: "secret",
    variable: CLUSTER_SECRET_VARIABLE,
    path: ["cluster", "secret"],
    value: cluster.secret,
    filePath: ["cluster", "secretFile"],
    fileName: cluster.secretFile,
    linesMax: 1,
  });
  const tls = cluster.tls ? readTls(cluster.tls, sources.read) : { texts: null, problems: [] };
  return {
    secret: secrets[0] ?? null,
    tls: tls.texts,
    problems: [...problems, ...tls.problems],
    cautions,
  };
}

/** Whoever knows the cluster's secret could sign passes, were it the visitors' own. */
export function checkClusterSecret(own: string | null, others: readonly (string | null)[]): Finding[] {
  if (own === null || !others.includes(own)) return [];
  const message = "the cluster's secret is the one that signs tickets and passes";
  const hint = "Make one of its own with `fairgate keys new`, or take it out: then one is made from that.";
  return [{ code: "conflict", path: ["cluster", "secret"], at: "key", message, hint }];
}

type TlsInFile = NonNullable<ClusterInFile["tls"]>;

function readTls(
  tls: Known<TlsInFile>,
  read: (fileName: string) => FileAnswer,
): { texts: ClusterTls | null; problems: Finding[] } {
  const { certificateFile, keyFile, caFile } = tls;
  const problems = [
    ...checkTls(tls, read, TLS_PATH),
    ...checkAuthority([...TLS_PATH, "caFile"], caFile, read),
  ];
  if (problems.length > 0 || !certificateFile || !keyFile || !caFile) return { texts: null, problems };
  const [cert, key, ca] = [certificateFile, keyFile, caFile].map((fileName) => {
    const answer = read(fileName);
    return "text" in answer ? answer.text : "";
  });
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

/** Where it is, in words that may be shown to anyone. */
export function describeCluster({ listen, join, tls }: ClusterSettings): string {
  const others = join.length === 0 ? "founding one" : `by ${join.map(formatJoinPlace).join(", ")}`;
  return `a node that listens at ${formatListen(listen)}, ${others}${tls ? ", with TLS" : ""}`;
}

/** The way people write where nodes are. */
export function formatJoinPlace(place: JoinPlace): string {
  if (place.by === "address") return place.address;
  return place.by === "service" ? `dns:${place.name}` : `dns:${place.name}:${place.port}`;
}
