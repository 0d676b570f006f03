/** A shop's ledger without a disk: the book itself, whose answers come at the end of the turn, as through a stub. */
import type { ShopDesk } from "../../shop/api/shop-desk.ts";
import { ShopBook } from "../../shop/rules/shop-book.ts";

type Call = (...args: unknown[]) => unknown;

export interface BookDesk extends ShopDesk {
  /** How often each method was called. */
  readonly calls: Record<string, number>;
  /** While set, every call fails with it. */
  broken: Error | null;
}

/** `book`: a new one when left out. Deadlines are kept as by an alarm that is always in time. */
export function deskOfBook(book = new ShopBook()): BookDesk {
  const desk = { calls: {} as Record<string, number>, broken: null as Error | null };
  return new Proxy(desk, {
    get(target, name) {
      if (name in target) return target[name as keyof typeof target];
      if (typeof name !== "string" || !(name in book)) return undefined;
      return async (...args: unknown[]) => {
        if (desk.broken) throw desk.broken;
        desk.calls[name] = (desk.calls[name] ?? 0) + 1;
        const now = args.findLast((arg) => typeof arg === "number" && arg > 1e9) as number | undefined;
        if (now !== undefined) book.expire(now);
        return (book as unknown as Record<string, Call>)[name]!(...args);
      };
    },
  }) as unknown as BookDesk;
}
