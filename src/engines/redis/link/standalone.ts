/** Calls to a Redis that stands alone. */
import { addressText, type ServerAddress } from "./place.ts";
import type { Primaries, PrimariesOptions } from "./primaries.ts";
import { Primary } from "./primary.ts";

export class StandalonePrimary extends Primary implements Primaries {
  readonly findToHear: () => Promise<ServerAddress>;

  constructor(options: PrimariesOptions) {
    const address = options.place.addresses[0]!;
    const find = () => Promise.resolve(address);
    super({ ...options, login: options.place, where: addressText(address), find });
    this.findToHear = find;
  }
}
