/** A ledger as the rest of the process asks it: through its stub, so that every answer comes later, once it is on disk. */
import type { ShopCalls } from "../rules/commands.ts";

export type ShopDesk = {
  readonly [Name in keyof ShopCalls]: (
    ...args: Parameters<ShopCalls[Name]>
  ) => Promise<ReturnType<ShopCalls[Name]>>;
};
