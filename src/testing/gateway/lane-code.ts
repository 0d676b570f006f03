/** Codes for the lanes of the stage's room, as `fairgate codes new` makes them. */
import { laneNumber } from "../../core/lanes.ts";
import { codeKeys, writeCode } from "../../gateway/lanes/code.ts";
import { OPENED_AT } from "./line.ts";
import { STAGE_SECRET } from "./stage.ts";

let codesMade = 0;

export function newCode(
  options: { kind?: "many" | "once"; lane?: string; room?: string; expiresAt?: number } = {},
): string {
  const { kind = "many", lane = "vip", room = "main", expiresAt = OPENED_AT + 3_600_000 } = options;
  const id = (++codesMade).toString(16).padStart(16, "0");
  const keys = codeKeys(room, { secret: STAGE_SECRET, previousSecrets: [] });
  return writeCode({ kind, lane: laneNumber(lane), id, expiresAt }, keys);
}
