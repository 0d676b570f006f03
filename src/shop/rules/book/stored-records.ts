/**
 * Reading records back. A record is JSON; its shape is checked before anything uses it, so that damage is found where it is, with
 * the record's key and what is wrong, and not as a wrong count later.
 */

/** What a stored value looks like. */
export type RecordShape =
  | "text"
  | "flag"
  /** A whole number from 0. */
  | "count"
  /** Any whole number. */
  | "integer"
  | "anything"
  | { readonly orNull: RecordShape }
  | { readonly listOf: RecordShape }
  /** An object with any keys. */
  | { readonly each: RecordShape }
  /** An object with these keys. */
  | { readonly fields: Readonly<Record<string, RecordShape>> };

/** A record that does not say what it should. */
export class DamagedRecord extends Error {
  override readonly name = "DamagedRecord";
  readonly key: string;

  constructor(key: string, what: string) {
    super(`The record "${key}" of the shop's ledger is damaged: ${what}.`);
    this.key = key;
  }
}

/** The value of a record. Throws a `DamagedRecord` when it does not have the shape. */
export function readStored<T>(key: string, text: string, shape: RecordShape): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DamagedRecord(key, `it is not JSON: ${JSON.stringify(text.slice(0, 40))}`);
  }
  const wrong = mismatch(value, shape, "it");
  if (wrong !== null) throw new DamagedRecord(key, wrong);
  return value as T;
}

/** The first place where a value has another shape, as a sentence; null: there is none. */
function mismatch(value: unknown, shape: RecordShape, path: string): string | null {
  if (typeof shape === "string")
    return isSimple(value, shape)
      ? null
      : `${path} should be of the kind "${shape}" and is ${JSON.stringify(value)}`;
  if ("orNull" in shape) return value === null ? null : mismatch(value, shape.orNull, path);
  if ("listOf" in shape) {
    if (!Array.isArray(value)) return `${path} should be a list`;
    return first(value.entries(), ([i, item]) => mismatch(item, shape.listOf, `${path}[${i}]`));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `${path} should be an object`;
  if ("each" in shape)
    return first(Object.entries(value), ([name, item]) => mismatch(item, shape.each, `${path}.${name}`));
  return first(Object.entries(shape.fields), ([name, field]) =>
    mismatch((value as Record<string, unknown>)[name], field, `${path}.${name}`),
  );
}

function isSimple(value: unknown, shape: string): boolean {
  if (shape === "text") return typeof value === "string";
  if (shape === "flag") return typeof value === "boolean";
  if (shape === "anything") return value !== undefined;
  return Number.isSafeInteger(value) && (shape === "integer" || (value as number) >= 0);
}

function first<Item>(items: Iterable<Item>, find: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}
