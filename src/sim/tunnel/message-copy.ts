/**
 * A message as it comes off a wire. The tunnel passes messages on uncopied, since copying would be most of the work. A run that
 * copies them must give the same hash; otherwise two nodes share an object that changes.
 */

/** A deep copy. Throws a TypeError on anything that a wire would not carry unchanged. */
export function copyOfMessage<T>(value: T): T {
  try {
    return copied(value) as T;
  } catch (error) {
    // Where it is is looked for only now: to note the way to each part would take longer than to copy it.
    throw error instanceof Uncarried ? new TypeError(mistakeIn(value, "message")!) : error;
  }
}

class Uncarried extends Error {}

function copied(value: unknown): unknown {
  if (isSimple(value)) return value;
  if (Array.isArray(value)) return value.map(copied);
  if (value instanceof Uint8Array) return value.slice();
  if (!isPlain(value)) throw new Uncarried();
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = copied(value[key]);
  return copy;
}

/** What a wire would not carry, and where it is. */
function mistakeIn(value: unknown, path: string): string | null {
  if (isSimple(value) || value instanceof Uint8Array) return null;
  if (!Array.isArray(value) && !isPlain(value)) return `${path} is ${kindOf(value)}, which no wire carries`;
  for (const [key, item] of Object.entries(value)) {
    const mistake = mistakeIn(item, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
    if (mistake !== null) return mistake;
  }
  return null;
}

function isSimple(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object") return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function kindOf(value: unknown): string {
  return typeof value === "object" ? `a ${value!.constructor.name}` : `a ${typeof value}`;
}
