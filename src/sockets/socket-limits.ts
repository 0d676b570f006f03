/**
 * How the files that this process may open are divided: every connection is one. Visitors get what is left when the rest has
 * its share, so that however many come, origins, disk, Redis, other nodes and the control address stay within
 * reach.
 *
 *   limit on open files = runtime + control + Redis + cluster + origins + visitors
 *
 * Origins get as many as their `connectionsMax` add up to, but no more than half of what visitors and origins have
 * together: a request of a visitor takes one connection to an origin at most.
 */
import type { OriginSettings, Settings } from "../config/schema.ts";
import { type ConnectionLimits, SLACK_MAX, SLACK_SHARE } from "./connections.ts";

export interface SocketLimits {
  readonly fileLimit: number;
  /** Handles that are not for visitors. */
  readonly reserve: Reserve;
  readonly visitors: ConnectionLimits;
  readonly control: ConnectionLimits;
  readonly streams: StreamLimits;
  /** `limits.connectionsMax` was set to more than there are handles for. */
  readonly isCut: boolean;
}

export interface Reserve {
  /** Node's own, the log, the disk, the certificate, name lookups. */
  readonly runtime: number;
  readonly control: number;
  readonly redis: number;
  readonly cluster: number;
  readonly origins: number;
}

/** Event streams of waiting visitors. */
export interface StreamLimits {
  readonly max: number;
  readonly perAddressMax: number;
  readonly perTicketMax: number;
}

/** Fewer files than this are too few for a rush; systems that set none say 1,024. */
const FILES_COMFORTABLE = 4_096;

const RUNTIME = 48;
const CONTROL = 128;
const REDIS = 64;
/** As many peers as a node takes, both ways, and strangers who have to prove who they are. */
const CLUSTER = 576;
/** The control address, Redis and the cluster get at most this share of all files each. */
const SHARE_MAX = 1 / 8;
/** Unless told otherwise no more than this, whatever the limit on files: an idle connection takes some 15 KB of memory. */
const VISITORS_MAX = 20_000;
const PER_ADDRESS_SHARE = 1 / 8;
const PER_ADDRESS_MIN = 64;
const STREAMS_SHARE = 3 / 4;
const STREAMS_PER_ADDRESS_SHARE = 1 / 2;
/** At the control address a watcher or an operator needs a few connections. */
const CONTROL_PER_ADDRESS_SHARE = 1 / 2;

type Facts = Pick<Settings, "limits" | "origin" | "rooms" | "redis" | "cluster">;

/** What an operator should know of these limits before a rush, in sentences. */
export function socketCautions({ fileLimit, visitors, isCut }: SocketLimits): string[] {
  const cautions: string[] = [];
  if (fileLimit < FILES_COMFORTABLE)
    cautions.push(
      `This process may open ${fileLimit} files, so at most ${visitors.max} connections of visitors at once. Raise the limit: LimitNOFILE= in systemd, --ulimit nofile= with Docker, ulimit -n in a shell.`,
    );
  if (isCut)
    cautions.push(
      `limits.connectionsMax is more than the limit on open files (${fileLimit}) has room for; ${visitors.max} are taken.`,
    );
  return cautions;
}

export function socketLimits(settings: Facts, fileLimit: number): SocketLimits {
  const { limits } = settings;
  const reserve = reserveFor(settings, fileLimit);
  const left = withoutSlack(fileLimit - sum(reserve));
  const max = Math.min(limits.connectionsMax ?? VISITORS_MAX, left);
  const perAddressMax = Math.min(
    limits.connectionsPerAddressMax ?? Math.max(PER_ADDRESS_MIN, Math.floor(max * PER_ADDRESS_SHARE)),
    max,
  );
  return {
    fileLimit,
    reserve,
    visitors: { max, perAddressMax },
    control: {
      max: reserve.control,
      perAddressMax: atLeastOne(reserve.control * CONTROL_PER_ADDRESS_SHARE),
    },
    streams: {
      max: atLeastOne(max * STREAMS_SHARE),
      perAddressMax: limits.streamsPerAddressMax ?? atLeastOne(perAddressMax * STREAMS_PER_ADDRESS_SHARE),
      perTicketMax: limits.streamsPerTicketMax,
    },
    isCut: limits.connectionsMax !== null && limits.connectionsMax > left,
  };
}

function reserveFor({ origin, rooms, redis, cluster }: Facts, fileLimit: number): Reserve {
  const share = atLeastOne(fileLimit * SHARE_MAX);
  const fixed = {
    runtime: RUNTIME,
    control: Math.min(CONTROL, share),
    redis: redis === null ? 0 : Math.min(REDIS, share),
    cluster: cluster === null ? 0 : Math.min(CLUSTER, share),
    origins: 0,
  };
  const left = Math.max(0, fileLimit - sum(fixed));
  const wanted = originConnections([origin, ...Object.values(rooms).map((room) => room.origin)]);
  return { ...fixed, origins: Math.min(wanted, Math.floor(left / 2)) };
}

/** What all origins may have together; one that several rooms name is counted once. */
function originConnections(origins: readonly (OriginSettings | null)[]): number {
  const different = new Map(origins.flatMap((one) => (one ? [[JSON.stringify(one), one] as const] : [])));
  let total = 0;
  for (const { addresses, connectionsMax } of different.values()) total += addresses.length * connectionsMax;
  return total;
}

function sum(reserve: Reserve): number {
  const { runtime, control, redis, cluster, origins } = reserve;
  return runtime + control + redis + cluster + origins;
}

/** Of these handles, as many as leave room for the slack on top. */
function withoutSlack(handles: number): number {
  return atLeastOne(Math.max(handles - SLACK_MAX, handles / (1 + SLACK_SHARE)));
}

function atLeastOne(count: number): number {
  return Math.max(1, Math.floor(count));
}
