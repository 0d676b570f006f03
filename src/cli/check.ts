/** `fairgate check`: everything `run` would check, every problem at once, nothing started. */
import { explain, toJson } from "../config/explain.ts";
import { readSettings, type SettingsFlags } from "./read-settings.ts";

export function check(flags: SettingsFlags & { json?: boolean }): void {
  const result = readSettings(flags);
  const notes = result.ok ? result.warnings : result.problems;
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ ok: result.ok, problems: toJson(notes) }, null, 2)}\n`);
  } else {
    const isColour = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
    if (notes.length > 0)
      process.stderr.write(
        `${explain(notes, { colour: isColour, noun: result.ok ? "warning" : "problem" })}\n`,
      );
    if (result.ok) process.stdout.write(`${summary(result.settings)}\n`);
  }
  if (!result.ok) process.exitCode = 2;
}

function summary(settings: Extract<ReturnType<typeof readSettings>, { ok: true }>["settings"]): string {
  const rooms = Object.keys(settings.rooms);
  return `The settings are good: ${rooms.length === 1 ? "one room" : `${rooms.length} rooms`} (${rooms.join(", ")}), ready to run.`;
}
