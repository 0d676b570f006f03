/** How the connection to a server is protected: by TLS, and with which certificate. */

import { isIP } from "node:net";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { formatHostPort, type HostPort } from "../../config/kinds.ts";
import type { RedisSettings } from "../../config/redis-settings.ts";
import { certificates, PATIENCE_MS } from "./probe.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const DAY_MS = 86_400_000;
const DAYS_MIN = 14;

/** Looks at TLS where it is used, and says so where it is not and others may listen. */
export async function examineTls(address: HostPort, { tls }: RedisSettings): Promise<DoctorVerdict[]> {
  const where = formatHostPort(address);
  if (tls === null) return isHere(address) ? [] : [plain(where)];
  const { host, port } = address;
  // Servers choose certificates by host name, and an IP address is none.
  const named = isIP(host) || tls.servername !== null ? {} : { servername: host };
  const socket = connect({ host, port, ...named, ...certificates(tls) });
  try {
    await secured(socket);
    return [judge(where, socket.getPeerCertificate(), socket.getProtocol() ?? "TLS")];
  } catch {
    // The connection itself was examined already: it failed the same way, or the server has gone since.
    return [about("tls", where).caution("The certificate cannot be seen.", "Try again.")];
  } finally {
    socket.destroy();
  }
}

/** Whether the server needs no password although it may be reached from elsewhere. */
export function checkPassword(address: HostPort, { password }: RedisSettings): DoctorVerdict[] {
  if (password !== null || isHere(address)) return [];
  return [
    about("password", formatHostPort(address)).caution(
      "It asks for no password: anyone who can reach it can change the line.",
      "Give it one (requirepass, or a user of our own), and set redis.password.",
    ),
  ];
}

function plain(where: string): DoctorVerdict {
  return about("tls", where).caution(
    "Not used: anyone on the network in between can read and change the traffic, including the password.",
    "Use rediss:// or redis.tls, unless the network is your own.",
  );
}

function judge(where: string, certificate: PeerCertificate, protocol: string): DoctorVerdict {
  const tls = about("tls", where);
  const endAt = Date.parse(certificate.valid_to);
  const days = Math.floor((endAt - Date.now()) / DAY_MS);
  const until = Number.isNaN(endAt)
    ? ""
    : `; the certificate is good until ${new Date(endAt).toISOString().slice(0, 10)}`;
  return days < DAYS_MIN ? tls.caution(`${protocol}${until}.`, "Renew it.") : tls.ok(`${protocol}${until}.`);
}

function secured(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
    socket.setTimeout(PATIENCE_MS, () => reject(new Error("no answer")));
  });
}

/** True for this machine. */
function isHere({ host }: HostPort): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}
