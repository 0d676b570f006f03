/**
 * A message as it comes off a wire. The tunnel passes messages on uncopied, since copying would be most of the work. A run that
 * copies them must give the same hash; otherwise two nodes share an object that changes.
 */

/** A deep copy. Throws a TypeError on anything that a wire would not carry unchanged. */
export function copyOfMessage<T>(value: T): T {
  return copied(value, "message") as T;
}

function copied(value: unknown, path: string): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" || value === undefined) return value;
  if (Array.isArray(value)) return value.map((item, i) => copied(item, `${path}[${i}]`));
  if (value instanceof Uint8Array) return value.slice();
  if (typeof value !== "object" || !isPlain(value))
    throw new TypeError(`${path} is ${kindOf(value)}, which no wire carries`);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, copied(item, `${path}.${key}`)]),
  );
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function kindOf(value: unknown): string {
  return typeof value === "object" ? `a ${value!.constructor.name}` : `a ${typeof value}`;
}
