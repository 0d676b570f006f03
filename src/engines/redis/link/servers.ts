/** The servers of one Redis, from the settings. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisServers {
  readonly mode: "standalone" | "sentinel" | "cluster";
  /** The server, some sentinels, or some nodes of the cluster, by `mode`. */
  readonly addresses: readonly ServerAddress[];
  /** The name under which the sentinels monitor the primary. */
  readonly masterName: string | null;
  readonly username: string | null;
  readonly password: string | null;
  readonly sentinelUsername: string | null;
  readonly sentinelPassword: string | null;
  /** Standalone and sentinel; a cluster has only one. */
  readonly database: number;
  readonly tls: { readonly ca: string | null; readonly servername: string | null } | null;
}

/** `host:port`, with brackets around an IPv6 address. Never holds a password. */
export function addressText({ host, port }: ServerAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Reads `host:port` as Redis writes it, IPv6 with or without brackets; null when it is not one. */
export function addressIn(text: string): ServerAddress | null {
  const [, host = "", digits = ""] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  return digits === "" || port > 65_535 ? null : { host: host.replace(/^\[(.*)\]$/, "$1"), port };
}
