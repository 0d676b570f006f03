/**
 * What would stop `run` on this machine, and what goes wrong on the night: found by trying, for `fairgate check` and
 * `fairgate doctor`. Nothing is left behind.
 *
 *   problem   `run` would not start
 *   caution   it starts, and visitors or the site may suffer
 */
import type { RoomSettings, Settings } from "../../config/schema.ts";
import { settingsDuring } from "../../config/settings-during.ts";
import { formatDuration } from "../../config/units.ts";
import { NEAR_MAX_MS } from "../../core/pacing.ts";
import { countText } from "../../sim/what-if/words.ts";
import { checkFiles } from "./file-checks.ts";
import { checkFront } from "./front-checks.ts";
import { checkOrigins } from "./origin-checks.ts";
import { checkPorts } from "./port-checks.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

export interface NightOptions {
  /** True: no origin is asked and no name looked up. */
  readonly isOffline?: boolean;
}

/** Everything that was found, for settings that are good in themselves. */
export async function nightVerdicts(
  settings: Settings,
  { isOffline = false }: NightOptions = {},
): Promise<DoctorVerdict[]> {
  const [ports, origins] = await Promise.all([checkPorts(settings), isOffline ? [] : checkOrigins(settings)]);
  const front = checkFront(settings, process.env, Date.now());
  const rooms = Object.entries(settings.rooms).flatMap(([name, room]) => [
    ...checkSessions(name, room),
    ...checkClaims(name, room),
  ]);
  return [...ports, ...origins, ...checkFiles(settings), ...front, ...rooms];
}

/** A session that outlasts its event keeps slots from those who wait until nobody may come in any more. */
function checkSessions(name: string, room: RoomSettings): DoctorVerdict[] {
  return room.events.flatMap((event) => {
    const lasts = event.eventEndTime - event.eventStartTime;
    const session = settingsDuring(room, event).sessionDuration;
    if (event.suspended || session < lasts) return [];
    const is = `A session lasts ${formatDuration(session)}, and the event ${event.name} ${formatDuration(lasts)}: who leaves without a word keeps a slot to its end.`;
    return [about("session", name).caution(is, "Shorten sessionDuration; `fairgate size` works one out.")];
  });
}

/** Of the room and of each event that has a claim window, budget or limit of its own; the same is said once. */
function checkClaims(name: string, room: RoomSettings): DoctorVerdict[] {
  const events = room.events.filter(({ suspended }) => !suspended);
  const found = [room, ...events.map((event) => settingsDuring(room, event))].flatMap((during) =>
    checkClaim(name, during),
  );
  return [...new Map(found.map((verdict) => [verdict.is, verdict])).values()];
}

/**
 * A turn must be heard of within half its claim window (core/pacing.ts). Near the front that goes before the budget of
 * check-ins, so a window that is short for the budget costs more of them than the budget allows.
 */
function checkClaim(
  name: string,
  { claimWindow, pollBudget, totalActiveUsers, queueingMethod }: RoomSettings,
): DoctorVerdict[] {
  if (queueingMethod === "passthrough") return [];
  const claim = about("claim", name);
  if (claimWindow < 2 * NEAR_MAX_MS) {
    const is = `claimWindow is ${formatDuration(claimWindow)}, and visitors near the front are told to check in every ${formatDuration(NEAR_MAX_MS)} where it allows: half of it is left to enter in.`;
    return [claim.caution(is, `Make it ${formatDuration(2 * NEAR_MAX_MS)} or more; a minute is usual.`)];
  }
  const checkInsPerSecond = (totalActiveUsers ?? 0) / (claimWindow / 2_000);
  if (checkInsPerSecond <= pollBudget) return [];
  const is = `To hear of ${countText(totalActiveUsers!)} turns within claimWindow (${formatDuration(claimWindow)}), visitors are told to check in up to ${countText(checkInsPerSecond)} times a second, above pollBudget (${countText(pollBudget)}).`;
  const enough = Math.ceil(((totalActiveUsers! / pollBudget) * 2) / 60) * 60_000;
  return [
    claim.caution(
      is,
      `Make claimWindow ${formatDuration(enough)}, or raise pollBudget to what you can serve.`,
    ),
  ];
}
