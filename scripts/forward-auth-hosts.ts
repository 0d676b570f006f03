/** Third-party proxies that ask Fairgate about each request, from Debian's packages. The third is nginx, in `origins.ts`. */
import type { Program } from "./debian.ts";

export const CADDY: Program = {
  name: "Caddy",
  why: "the tests of forward-auth have a Caddy that asks the gateway",
  debianPackage: "caddy",
  places: ["/usr/bin/caddy", "/usr/local/bin/caddy", "/opt/homebrew/bin/caddy"],
  variable: "FAIRGATE_CADDY",
};

export const HAPROXY: Program = {
  name: "HAProxy",
  why: "the tests of forward-auth have an HAProxy that asks the gateway",
  debianPackage: "haproxy",
  places: ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy", "/opt/homebrew/bin/haproxy"],
  variable: "FAIRGATE_HAPROXY",
};

export const FORWARD_AUTH_HOSTS: readonly Program[] = [CADDY, HAPROXY];
