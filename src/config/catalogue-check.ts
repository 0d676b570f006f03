/**
 * Checks of a shop's catalogue against the rooms, for a catalogue in a file and for one that is set at the control address; and the
 * reading of the files that shops begin with. What a catalogue means by itself is checked by the shop's rules, which are handed in.
 */
import type { WrittenCatalogue } from "../shop/rules/written-catalogue.ts";
import { type CatalogueProblemShown, readCatalogueFile } from "./catalogue-form.ts";
import type { FileAnswer } from "./check-files.ts";
import { nearest } from "./nearest.ts";
import { type Finding, formatPath, type Path, safeText, unreadable } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings } from "./schema.ts";
import { formatDuration } from "./units.ts";

const NAME_CHARACTERS_MAX = 60;
/** As the rules have it where a catalogue does not say. */
const PAYING_MS = 15 * 60_000;

/** The rooms that a catalogue is checked against. */
export type CheckedRooms = Known<FileSettings["rooms"]>;

/** What is wrong with a catalogue by itself. */
export type CheckCatalogue = (
  written: WrittenCatalogue,
) => readonly { readonly path: string; readonly message: string }[];

/** Every problem of the catalogue that this shop is to have. */
export function catalogueProblems(
  written: WrittenCatalogue,
  { shop, rooms, check }: { shop: string; rooms: CheckedRooms; check: CheckCatalogue },
): CatalogueProblemShown[] {
  return [
    ...check(written).map((problem) => ({ ...problem, hint: "" })),
    ...paymentRoomProblems(written, rooms),
    ...placeProblems(written, { shop, rooms }),
  ];
}

/** What is allowed in a catalogue beside these rooms, but seldom meant. */
export function catalogueCautions(
  { policies }: WrittenCatalogue,
  rooms: CheckedRooms,
): CatalogueProblemShown[] {
  const name = policies?.payment?.room;
  const sessionDuration = name == null ? undefined : rooms[name]?.sessionDuration;
  const payingMs = policies?.payingMs ?? PAYING_MS;
  if (sessionDuration === undefined || sessionDuration >= payingMs) return [];
  const message = `visitors have ${formatDuration(payingMs)} to pay, and a visit to the payment room ${name} ends after ${formatDuration(sessionDuration)} without a request`;
  const hint = `Set rooms.${name}.sessionDuration to ${formatDuration(payingMs)} at least.`;
  return [{ path: "policies.payingWindow", message, hint }];
}

export interface CataloguesAnswer {
  /** By shop: those that have a file. */
  readonly catalogues: ReadonlyMap<string, WrittenCatalogue>;
  readonly problems: readonly Finding[];
  readonly cautions: readonly Finding[];
}

/** The catalogues that shops begin with, or what is wrong with them. */
export function readCatalogues(
  { shops, rooms = {} }: Known<FileSettings>,
  { read, check }: { read: (fileName: string) => FileAnswer; check: CheckCatalogue },
): CataloguesAnswer {
  const catalogues = new Map<string, WrittenCatalogue>();
  const problems: Finding[] = [];
  const cautions: Finding[] = [];
  for (const [shop, settings] of Object.entries(shops ?? {})) {
    const fileName = settings?.catalogueFile;
    if (fileName == null) continue;
    const path = ["shops", shop, "catalogueFile"];
    const answer = read(fileName);
    if ("wrong" in answer) {
      problems.push(unreadable(path, fileName, answer.wrong));
      continue;
    }
    const reading = readCatalogueFile(answer.text, fileName);
    const found = reading.ok ? catalogueProblems(reading.written, { shop, rooms, check }) : reading.problems;
    problems.push(...found.map((problem) => inFile(problem, { path, fileName, code: "invalid" })));
    if (!reading.ok || found.length > 0) continue;
    catalogues.set(shop, reading.written);
    const told = catalogueCautions(reading.written, rooms);
    cautions.push(...told.map((caution) => inFile(caution, { path, fileName, code: "caution" })));
  }
  return { catalogues, problems, cautions };
}

function inFile(
  { path: inner, message, hint }: CatalogueProblemShown,
  { path, fileName, code }: { path: Path; fileName: string; code: Finding["code"] },
): Finding {
  // The message of a value that could not be read begins with its path; one of the rules does not.
  const where = inner === "" || message.startsWith(inner) ? "" : `${inner} `;
  return { code, path, at: "value", message: `${formatPath(path)}: ${fileName}: ${where}${message}`, hint };
}

function paymentRoomProblems({ policies }: WrittenCatalogue, rooms: CheckedRooms): CatalogueProblemShown[] {
  const name = policies?.payment?.room;
  if (name == null || Object.hasOwn(rooms, name)) return [];
  const near = nearest(name, Object.keys(rooms));
  const hint = near ? `Did you mean ${near}?` : "Write it under rooms: it is an ordinary room.";
  return [{ path: "policies.payment.room", message: `there is no room ${quoted(name)}`, hint }];
}

/** Rooms and lanes that products name. */
function placeProblems(
  { products, pools = {} }: WrittenCatalogue,
  { shop, rooms }: { shop: string; rooms: CheckedRooms },
): CatalogueProblemShown[] {
  const sellers = Object.entries(rooms).filter(([, room]) => room?.shop === shop);
  const names = sellers.map(([name]) => name);
  const lanes = new Set(sellers.flatMap(([, room]) => Object.keys(room?.lanes ?? {})));
  const unknownLanes = (path: string, holdBacks: Readonly<Record<string, number>> = {}) =>
    Object.keys(holdBacks)
      .filter((lane) => !lanes.has(lane))
      .map((lane) => ({
        path: `${path}.holdBacks.${lane}`,
        message: `no room that sells from this shop has a lane ${quoted(lane)}`,
        hint: lanes.size === 0 ? "Write it under lanes in a room." : `There are ${[...lanes].join(", ")}.`,
      }));
  const unknownRooms = (path: string, named: readonly string[] | null | undefined) =>
    (named ?? [])
      .filter((room) => !names.includes(room))
      .map((room) => ({
        path: `${path}.rooms`,
        message: `the room ${quoted(room)} does not sell from this shop`,
        hint: `Write shop: ${shop} in it, or take it out here.`,
      }));
  return [
    ...Object.entries(products).flatMap(([id, product]) => [
      ...unknownRooms(`products.${id}`, product.rooms),
      ...unknownLanes(`products.${id}`, product.holdBacks),
    ]),
    ...Object.entries(pools).flatMap(([id, pool]) => unknownLanes(`pools.${id}`, pool.holdBacks)),
  ];
}

function quoted(name: string): string {
  return `"${safeText(name, NAME_CHARACTERS_MAX)}"`;
}
