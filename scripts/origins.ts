/** Origins of other makers that stand behind a gateway in tests and benches: nginx, PHP and Flask, from Debian's packages. */
import { findProgram, type Program } from "./debian.ts";

const why = (what: string) => `the tests of hostile paths have ${what} behind the gateway`;

export const NGINX: Program = {
  name: "nginx",
  why: why("an nginx"),
  debianPackage: "nginx-light",
  places: ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"],
  variable: "FAIRGATE_NGINX",
};

export const PHP: Program = {
  name: "PHP",
  why: why("a router in PHP"),
  debianPackage: "php-cli",
  places: ["/usr/bin/php", "/usr/local/bin/php", "/opt/homebrew/bin/php"],
  variable: "FAIRGATE_PHP",
};

export const FLASK: Program = {
  name: "Flask",
  why: why("a Flask app"),
  debianPackage: "python3-flask",
  places: ["/usr/bin/flask", "/usr/local/bin/flask", "/opt/homebrew/bin/flask"],
  variable: "FAIRGATE_FLASK",
};

export const ORIGINS: readonly Program[] = [NGINX, PHP, FLASK];

/** Where the program is. Throws when it is missing: `npm test` installs it or says how. */
export function originProgram(program: Program): string {
  const found = findProgram(program);
  if (found === undefined)
    throw new Error(
      `${program.name} is missing: install ${program.debianPackage}, or set ${program.variable}`,
    );
  return found;
}
