/** The servers that hold the line, as they were found. */
import type { HostPort } from "../../config/kinds.ts";
import type { DoctorVerdict } from "./verdict.ts";

export interface Node {
  readonly address: HostPort;
  readonly isPrimary: boolean;
  /** The ranges of hash slots it holds, first and last; null outside a cluster. */
  readonly slots: readonly (readonly [first: number, last: number])[] | null;
}

/** The servers that hold the line, and findings about the way to them. */
export interface Search {
  readonly nodes: readonly Node[];
  readonly verdicts: readonly DoctorVerdict[];
}
