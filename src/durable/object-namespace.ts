/**
 * The objects of one class, by name. What an object is given as `env` is made here too: every function in it becomes a
 * call through the object's gates (it leaves when the writes before it are on disk, and its result comes back as an
 * event), and so do the objects of other classes. Everything else in `env` is handed on as it is.
 *
 * Arguments and answers are not copied: what was handed over must not be changed from then on.
 */
import { checkName } from "./limits.ts";
import { type CellParts, ObjectCell, type Outgoing } from "./object-cell.ts";
import type { DurableState } from "./storage.ts";

/** How an object is called from outside: the methods of `T`, each returning a promise. */
export type Stub<T> = {
  readonly [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (
    ...args: infer A
  ) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

export type ObjectClass<T extends object, Env> = new (state: DurableState, env: Env) => T;
type Shared = Omit<CellParts, "object" | "make" | "hasAlarm">;

export class ObjectNamespace<T extends object> {
  readonly #className: string;
  readonly #shared: Shared;
  readonly #make: CellParts["make"];
  /** Methods of the class and of those it extends. */
  readonly #methods: readonly string[];
  readonly #cells = new Map<string, ObjectCell>();

  constructor(className: string, shared: Shared, make: CellParts["make"], prototype: T) {
    this.#className = className;
    this.#shared = shared;
    this.#make = make;
    this.#methods = methodsOf(prototype);
  }

  get(name: string): Stub<T> {
    return this.#stub(name, (call) => call());
  }

  /** The same objects for another object, called through that one's gates. */
  calledThrough(outgoing: Outgoing): { get(name: string): Stub<T> } {
    return { get: (name) => this.#stub(name, outgoing) };
  }

  /** Drops from memory the objects that were not called since the last time. The next call makes them again from disk. */
  sweep(): void {
    for (const [name, cell] of this.#cells) if (cell.leaveIfIdle()) this.#cells.delete(name);
  }

  cell(name: string): ObjectCell {
    let cell = this.#cells.get(name);
    if (!cell) {
      const object = { className: this.#className, name };
      cell = new ObjectCell({
        ...this.#shared,
        object,
        make: this.#make,
        hasAlarm: this.#methods.includes("alarm"),
      });
      this.#cells.set(name, cell);
    }
    return cell;
  }

  #stub(name: string, through: (call: () => Promise<unknown>) => Promise<unknown>): Stub<T> {
    checkName(name);
    const methods = this.#methods.map((method) => [
      method,
      (...args: unknown[]) => through(() => this.cell(name).call(method, args)),
    ]);
    return Object.freeze(Object.fromEntries(methods)) as unknown as Stub<T>;
  }
}

/** `env` as one object sees it. */
export function gatedEnv<Env>(env: Env, outgoing: Outgoing): Env {
  if (typeof env !== "object" || env === null) return env;
  const gated = Object.entries(env).map(([name, value]) => [name, gatedPart(value, env, outgoing)]);
  return Object.fromEntries(gated) as Env;
}

function gatedPart(value: unknown, env: object, outgoing: Outgoing): unknown {
  if (value instanceof ObjectNamespace) return value.calledThrough(outgoing);
  if (typeof value !== "function") return value;
  return (...args: unknown[]) => outgoing(() => Reflect.apply(value, env, args));
}

function methodsOf(prototype: object): string[] {
  const names = new Set<string>();
  for (let at: object | null = prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof property.value === "function" && name !== "constructor") names.add(name);
  return [...names];
}
