/**
 * A walk through everything that links lead to, each once: an order in which all that is below something comes before it, and
 * circles that make such an order impossible. The path is a list of its own and not the call stack, so that a chain may be of any
 * length.
 */

/** Circles that are remembered; there can be as many as there are links. */
const CYCLES_MAX = 10;

export interface Walk {
  readonly lowestFirst: readonly string[];
  /** Each is below the one before, and the first below the last. Empty: there are none. */
  readonly cycles: readonly (readonly string[])[];
}

export function depthFirst(ids: Iterable<string>, below: (id: string) => Iterable<string>): Walk {
  const lowestFirst: string[] = [];
  const cycles: string[][] = [];
  const seen = new Set<string>();
  const onPath = new Set<string>();
  const path: { readonly id: string; readonly rest: Iterator<string> }[] = [];
  const enter = (id: string) => {
    seen.add(id);
    onPath.add(id);
    path.push({ id, rest: below(id)[Symbol.iterator]() });
  };
  for (const start of ids) {
    if (!seen.has(start)) enter(start);
    for (let here = path.at(-1); here; here = path.at(-1)) {
      const next = here.rest.next();
      if (next.done) {
        path.pop();
        onPath.delete(here.id);
        lowestFirst.push(here.id);
      } else if (!seen.has(next.value)) {
        enter(next.value);
      } else if (onPath.has(next.value) && cycles.length < CYCLES_MAX) {
        cycles.push(path.slice(path.findIndex(({ id }) => id === next.value)).map(({ id }) => id));
      }
    }
  }
  return { lowestFirst, cycles };
}
