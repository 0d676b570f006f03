/** Checks of the capacities that rooms share, and of the rooms that share them. */
import { isName, NAME_SHAPE } from "./name.ts";
import { nearest } from "./nearest.ts";
import { type Finding, formatPath, safeText } from "./problem.ts";
import type { Known } from "./salvage.ts";
import { BUDGETS_MAX, type FileSettings } from "./schema.ts";

const NAME_CHARACTERS_MAX = 60;

/** Problems between rooms and the budgets they share. */
export function checkBudgets(settings: Known<FileSettings>): Finding[] {
  const budgets = settings.budgets;
  if (!budgets) return [];
  const names = Object.keys(budgets);
  return [
    ...checkHowMany(names.length),
    ...names.flatMap(checkName),
    ...checkNamed(settings.rooms ?? {}, names),
    ...names.flatMap((name) => checkGuaranteed(settings, name)),
  ];
}

function checkHowMany(budgets: number): Finding[] {
  if (budgets <= BUDGETS_MAX) return [];
  const message = `there are ${budgets} budgets`;
  return [{ code: "too-large", path: ["budgets"], at: "key", message, hint: `There can be ${BUDGETS_MAX}.` }];
}

function checkName(name: string): Finding[] {
  if (isName(name)) return [];
  const message = `"${safeText(name, NAME_CHARACTERS_MAX)}" cannot be a budget's name`;
  return [{ code: "invalid", path: ["budgets", name], at: "key", message, hint: `A name is ${NAME_SHAPE}.` }];
}

/** Every budget that a room names is there. */
function checkNamed(rooms: Known<FileSettings["rooms"]>, names: readonly string[]): Finding[] {
  return Object.entries(rooms).flatMap(([room, settings]): Finding[] => {
    const budget = settings?.budget;
    if (budget == null || names.includes(budget)) return [];
    const path = ["rooms", room, "budget"];
    const message = `${formatPath(path)} is "${safeText(budget, NAME_CHARACTERS_MAX)}", and there is no such budget`;
    const near = nearest(budget, names);
    const hint = near
      ? `Did you mean ${near}?`
      : "Write it under budgets at the top, with its totalActiveUsers.";
    return [{ code: "conflict", path, at: "value", message, hint }];
  });
}

/** What is guaranteed to all rooms of a budget fits into it. */
function checkGuaranteed(settings: Known<FileSettings>, name: string): Finding[] {
  const total = settings.budgets?.[name]?.totalActiveUsers;
  const rooms = Object.entries(settings.rooms ?? {}).filter(([, room]) => room?.budget === name);
  const sum = rooms.reduce((guaranteed, [, room]) => guaranteed + (room?.guaranteed ?? 0), 0);
  if (total === undefined || sum <= total) return [];
  const path = ["budgets", name, "totalActiveUsers"];
  const sharing = rooms.filter(([, room]) => room?.guaranteed).map(([room]) => room);
  const who =
    sharing.length === 1
      ? `room ${sharing[0]} is guaranteed ${sum}`
      : `rooms ${sharing.slice(0, ROOMS_SHOWN_MAX).join(", ")}${sharing.length > ROOMS_SHOWN_MAX ? ", …" : ""} are guaranteed ${sum} together`;
  const message = `${formatPath(path)} is ${total}, and ${who}`;
  const hint = "What is guaranteed should fit into the budget: raise it, or guarantee less.";
  return [{ code: "conflict", path, at: "value", message, hint }];
}

const ROOMS_SHOWN_MAX = 10;
