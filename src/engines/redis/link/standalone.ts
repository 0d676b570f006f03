/** Calls to a standalone Redis. */

import type { Primaries, PrimariesOptions } from "./primaries.ts";
import { Primary } from "./primary.ts";
import { addressText, type ServerAddress } from "./servers.ts";

export class StandalonePrimary extends Primary implements Primaries {
  readonly findToHear: () => Promise<ServerAddress>;

  constructor(options: PrimariesOptions) {
    const address = options.servers.addresses[0]!;
    const find = () => Promise.resolve(address);
    super({ ...options, login: options.servers, where: addressText(address), find });
    this.findToHear = find;
  }
}
