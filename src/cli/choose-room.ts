/** Which room a command is about: the one that `--room` names, or the only one. */
import { nearest } from "../config/nearest.ts";
import { safeText } from "../config/problem.ts";
import type { RoomSettings, Settings } from "../config/schema.ts";

const NAMED_MAX = 20;
const SHOWN_CHARACTERS_MAX = 60;

/** The room of this name; without a name, the only room there is. Otherwise what is wrong. */
export function chooseRoom(
  { rooms }: Settings,
  name: string | undefined,
): { readonly name: string; readonly room: RoomSettings } | { readonly wrong: string } {
  const names = Object.keys(rooms);
  const chosen = name ?? (names.length === 1 ? names[0]! : undefined);
  const listed = names.slice(0, NAMED_MAX).map(shown).join(", ");
  if (chosen === undefined)
    return { wrong: `There are ${names.length} rooms: ${listed}. Name one with --room.` };
  if (Object.hasOwn(rooms, chosen)) return { name: chosen, room: rooms[chosen]! };
  const meant = nearest(chosen, names);
  const hint = meant ? ` Did you mean ${meant}?` : "";
  return { wrong: `There is no room "${shown(chosen)}"; there is ${listed}.${hint}` };
}

function shown(name: string): string {
  return safeText(name, SHOWN_CHARACTERS_MAX);
}
