/** From the JSON of a visitor's call to a wish; or what is wrong with it, in a sentence for the page's author. */
import type { Read } from "../../config/route.ts";
import type { Wish } from "../rules/commands.ts";

/** One basket never wants more in one call. */
const COUNT_MAX = 10_000;
const WISHES_MAX = 500;
const DEPTH_MAX = 20;
const NAME_CHARACTERS_MAX = 200;
const WISH_KEYS = new Set(["product", "count", "chosen"]);
const DECODER = new TextDecoder("utf-8", { fatal: true });

/** `{"product":"seat","count":2,"chosen":[{"product":"meal"}]}`; count and chosen may be left out. */
export function readWish(body: Uint8Array): Read<Wish> {
  const json = readJson(body);
  if ("wrong" in json) return json;
  const left = { wishes: WISHES_MAX };
  const wish = wishIn(json.value, 0, left);
  return typeof wish === "string" ? { wrong: wish } : { value: wish };
}

/** `{"count":2}`, or nothing: how many somebody waits for. */
export function readCount(body: Uint8Array): Read<number> {
  const json = body.length === 0 ? { value: {} } : readJson(body);
  if ("wrong" in json) return json;
  if (!isMapping(json.value)) return { wrong: 'the body should be a JSON object such as {"count":2}' };
  const { count = 1, ...others } = json.value;
  const [other] = Object.keys(others);
  if (other !== undefined) return { wrong: `there is no ${quoted(other)} here` };
  return isCount(count) ? { value: count } : { wrong: countWrong() };
}

function readJson(body: Uint8Array): Read<unknown> {
  try {
    return { value: JSON.parse(DECODER.decode(body)) };
  } catch {
    return { wrong: "the body is not JSON" };
  }
}

function wishIn(value: unknown, depth: number, left: { wishes: number }): Wish | string {
  if (!isMapping(value)) return 'a wish should be an object such as {"product":"seat","count":2}';
  if (depth > DEPTH_MAX) return `wishes are more than ${DEPTH_MAX} deep`;
  if (left.wishes-- === 0) return `there are more than ${WISHES_MAX} wishes`;
  const other = Object.keys(value).find((key) => !WISH_KEYS.has(key));
  if (other !== undefined) return `a wish has no ${quoted(other)}`;
  const { product, count = 1, chosen = [] } = value;
  if (typeof product !== "string" || product === "" || product.length > NAME_CHARACTERS_MAX)
    return "product should be a product's id";
  if (!isCount(count)) return countWrong();
  if (!Array.isArray(chosen)) return "chosen should be a list of wishes";
  const wishes: Wish[] = [];
  for (const one of chosen) {
    const wish = wishIn(one, depth + 1, left);
    if (typeof wish === "string") return wish;
    wishes.push(wish);
  }
  return { product, count, chosen: wishes };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= COUNT_MAX;
}

function countWrong(): string {
  return `count should be a whole number from 1 to ${COUNT_MAX}`;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function quoted(key: string): string {
  return JSON.stringify(key.slice(0, NAME_CHARACTERS_MAX));
}
