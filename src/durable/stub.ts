/** Stubs: how an object is called from outside. They have the methods of its class, each giving a promise. */

/** The methods of `T`, each answering by a promise. */
export type Stub<T> = {
  readonly [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (
    ...args: infer A
  ) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export type Caller = (method: string, args: readonly unknown[]) => Promise<unknown>;
export type StubMaker<T> = (call: Caller) => Stub<T>;

/** Makes stubs for a class, with the methods it and those above it have. */
export function stubMaker<T extends object>(Class: { readonly prototype: T }): StubMaker<T> {
  const names = methodsOf(Class.prototype);
  return (call) =>
    Object.freeze(
      Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => call(name, args)])),
    ) as unknown as Stub<T>;
}

export function methodsOf(prototype: object): string[] {
  const names = new Set<string>();
  for (let at: object | null = prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof property.value === "function" && name !== "constructor") names.add(name);
  return [...names];
}
