/** Names that operators give: to rooms, events, lanes and budgets. They stand in addresses, in logs and in metrics. */
import type { Read } from "./route.ts";

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;
export const NAME_SHAPE =
  "1 to 32 lower-case letters, digits and hyphens, with a letter or digit at both ends";

/** A name that is a number would lose its place among the others: JavaScript puts such keys first. */
const LANE_NAME = /^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/;
export const LANE_NAME_SHAPE =
  "1 to 32 lower-case letters, digits and hyphens, with a letter first and a letter or digit last";

export function isName(text: string): boolean {
  return NAME.test(text);
}

/** Lanes have an order, which is that of their names in the file. */
export function isLaneName(text: string): boolean {
  return LANE_NAME.test(text);
}

/** The name, or what is wrong with it. */
export function readName(text: string): Read<string> {
  return isName(text) ? { value: text } : { wrong: "cannot be a name" };
}
