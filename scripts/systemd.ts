/** What checks the unit in `deploy/systemd` without running it. Only Linux has it. */
import type { Program } from "./debian.ts";

export const SYSTEMD: Program = {
  name: "systemd-analyze",
  why: "a test checks the systemd unit in deploy",
  debianPackage: "systemd",
  places: ["/usr/bin/systemd-analyze"],
  variable: "FAIRGATE_SYSTEMD_ANALYZE",
};
