/**
 * What is in front of Fairgate, as far as it can be known from here: whether visitors come by https, and whether a proxy that
 * they come through is named. An unnamed proxy makes all visitors one address, with one address's limits.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isLoopback } from "../../config/cluster-check.ts";
import { formatHostPort } from "../../config/kinds.ts";
import type { Settings } from "../../config/schema.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const DAY_MS = 86_400_000;
const RENEW_DAYS = 14;

/** Variables that say that this machine is behind a platform's own proxy. */
const PLATFORMS: Readonly<Record<string, string>> = {
  KUBERNETES_SERVICE_HOST: "Kubernetes",
  FLY_APP_NAME: "Fly.io",
  DYNO: "Heroku",
  RENDER: "Render",
  K_SERVICE: "Cloud Run",
  RAILWAY_ENVIRONMENT: "Railway",
};

/** Verdicts on TLS and trusted proxies. */
export function checkFront(
  settings: Settings,
  environment: Readonly<Record<string, string | undefined>>,
  now: number,
): DoctorVerdict[] {
  const { tls, trustedProxies } = settings;
  const sign = trustedProxies.length > 0 ? null : signOfProxy(settings, environment);
  const proxy = about("proxy");
  const verdicts = tls === null ? [] : [checkCertificate(tls.certificateFile, now)];
  if (sign !== null) {
    const is = `${sign}, and trustedProxies is empty: all visitors would share one address and its limits.`;
    const todo = "Name the addresses of the proxy in front in trustedProxies, such as [127.0.0.1].";
    return [...verdicts, proxy.caution(is, todo)];
  }
  if (trustedProxies.length > 0) return [...verdicts, proxy.ok(`Trusted: ${trustedProxies.join(", ")}.`)];
  if (tls !== null) return verdicts;
  const is = "There is no TLS and no proxy in front: others on the way can read passes and use them.";
  const todo = "Set tls, or put a proxy that speaks https in front and name it in trustedProxies.";
  return [about("tls").caution(is, todo)];
}

/** How one can tell that visitors come through a proxy; null: nothing says so. */
function signOfProxy(
  { listen, tls, rooms, forwardedHost }: Settings,
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const platform = Object.keys(PLATFORMS).find((name) => environment[name]);
  if (platform !== undefined) return `This is ${PLATFORMS[platform]}, where visitors come through a proxy`;
  if (forwardedHost) return "forwardedHost is true";
  const secured = Object.keys(rooms).find((name) => rooms[name]!.cookieAttributes.secure === "always");
  if (tls === null && secured !== undefined)
    return `rooms.${secured}.cookieAttributes.secure is always, which is for a proxy in front`;
  if (isLoopback(listen.host)) return `Only a proxy on this machine can reach ${formatHostPort(listen)}`;
  return null;
}

function checkCertificate(file: string, now: number): DoctorVerdict {
  const tls = about("tls", file);
  const until = new X509Certificate(readFileSync(file)).validToDate;
  const days = Math.floor((until.getTime() - now) / DAY_MS);
  const day = until.toISOString().slice(0, 10);
  if (days < 0) return tls.caution(`The certificate expired on ${day}.`, "Renew it: browsers refuse it.");
  if (days < RENEW_DAYS)
    return tls.caution(`The certificate expires on ${day}.`, "Renew it before the sale.");
  return tls.ok(`The certificate is good until ${day}.`);
}
