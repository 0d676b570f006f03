/** Third-party origins behind a gateway in tests and benches: nginx, PHP and Flask, from Debian's packages. */
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

export const PHP_FPM: Program = {
  name: "PHP-FPM",
  why: "one of the sites is in PHP, behind an nginx",
  debianPackage: "php-fpm",
  places: [
    ...["8.5", "8.4", "8.3", "8.2", "8.1"].map((version) => `/usr/sbin/php-fpm${version}`),
    "/usr/sbin/php-fpm",
    "/usr/local/sbin/php-fpm",
    "/opt/homebrew/sbin/php-fpm",
  ],
  variable: "FAIRGATE_PHP_FPM",
};

export const FLASK: Program = {
  name: "Flask",
  why: why("a Flask app"),
  debianPackage: "python3-flask",
  places: ["/usr/bin/flask", "/usr/local/bin/flask", "/opt/homebrew/bin/flask"],
  variable: "FAIRGATE_FLASK",
};

export const ORIGINS: readonly Program[] = [NGINX, PHP, FLASK];

/** Where the program is. Throws when it is missing: `npm test` and `npm run test:real` install it or say how. */
export function originProgram(program: Program): string {
  const found = findProgram(program);
  if (found === undefined)
    throw new Error(
      `${program.name} is missing: install ${program.debianPackage}, or set ${program.variable}`,
    );
  return found;
}
