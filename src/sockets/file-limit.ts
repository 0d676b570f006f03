/**
 * How many files this process may have open, sockets included. Node raises its own soft limit to the hard one when it starts.
 */
import { readFileSync } from "node:fs";

let known: number | null = null;

/** The limit as it was when first asked for; infinite where the system sets none or does not tell. */
export function fileLimit(): number {
  known ??= fromProc() ?? fromReport() ?? Number.POSITIVE_INFINITY;
  return known;
}

/** Linux. */
function fromProc(): number | null {
  try {
    return readLimits(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return null;
  }
}

/** The soft limit on open files in the text of /proc/self/limits; null when it is not there. */
export function readLimits(text: string): number | null {
  const soft = /^Max open files +(\d+|unlimited)/m.exec(text)?.[1];
  if (soft === undefined) return null;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Other systems of the Unix kind. */
function fromReport(): number | null {
  const { userLimits } = process.report.getReport() as unknown as {
    userLimits?: { open_files?: { soft?: number | "unlimited" } };
  };
  const soft = userLimits?.open_files?.soft;
  if (soft === undefined) return null;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : soft;
}
