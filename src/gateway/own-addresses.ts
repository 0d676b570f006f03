/**
 * The addresses under `/.fairgate/` and what answers there. Looked up with every request, so by length first: a map
 * would hash and intern the URL of each request, which costs more than comparing it with the few of its length.
 */
import type { RoomFront } from "./room-front.ts";
import { ENDPOINTS, type Endpoint } from "./visitor-endpoints.ts";

export const OWN_PREFIX = "/.fairgate/";

export interface OwnAddress {
  readonly address: string;
  readonly front: RoomFront;
  readonly endpoint: Endpoint;
}

const NONE: readonly OwnAddress[] = [];

export class OwnAddresses {
  readonly #byLength: (readonly OwnAddress[])[] = [];

  constructor(fronts: Iterable<RoomFront>) {
    for (const front of fronts)
      for (const endpoint of ENDPOINTS) {
        const address = `${OWN_PREFIX}${front.name}/${endpoint}`;
        const { length } = address;
        while (this.#byLength.length <= length) this.#byLength.push(NONE);
        this.#byLength[length] = [...this.#byLength[length]!, { address, front, endpoint }];
      }
  }

  find(address: string): OwnAddress | undefined {
    const { length } = address;
    if (length >= this.#byLength.length) return undefined;
    const found = this.#byLength[length]!;
    for (let i = 0; i < found.length; i++) if (found[i]!.address === address) return found[i];
    return undefined;
  }
}
