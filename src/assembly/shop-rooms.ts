/**
 * What ties shops to their rooms, looked at twice a second:
 *
 *   payment room paused, closed, gathering ─▶ the deadlines of those who wait to pay stand still
 *   everything sold ─▶ those who wait are told so; by setting the room is closed
 *   nearly everything sold ─▶ those whom it will probably not reach are told that
 */
import type { Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { type StockOutlook, stockOutlook } from "../shop/api/stock-outlook.ts";
import type { OpenShop, Shops } from "./shops.ts";

const LOOK_EVERY_MS = 500;
/** A failure is told this often. */
const COMPLAINT_PERIOD_MS = 60_000;

export interface ShopRoomsParts {
  readonly shops: Pick<Shops, "get">;
  readonly gateway: Pick<Gateway, "settings" | "isLettingIn" | "noteStock">;
  /** Closes a room, as an operator would. */
  readonly closeRoom: (room: string) => Promise<unknown>;
  readonly world: World;
}

export class ShopRooms {
  readonly #parts: ShopRoomsParts;
  readonly #stop: () => void;
  /** What each shop was told of its payment room last. */
  readonly #doors = new Map<string, boolean>();
  /** Rooms in which everything was sold when they were looked at last. */
  readonly #soldOut = new Set<string>();
  #isLooking = false;
  #complainedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ShopRoomsParts) {
    this.#parts = parts;
    this.#stop = parts.world.timers.every(LOOK_EVERY_MS, () => void this.look());
  }

  /** Looks now, unless that is under way. Never fails. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { settings } = this.#parts.gateway;
      for (const name of Object.keys(settings.shops)) await this.#lookAt(name, settings);
    } catch (cause) {
      this.#complain(cause);
    } finally {
      this.#isLooking = false;
    }
  }

  close(): void {
    this.#stop();
  }

  async #lookAt(name: string, settings: Settings): Promise<void> {
    const shop = this.#parts.shops.get(name);
    if (!shop) return;
    await this.#tellDoor(shop);
    const rooms = Object.entries(settings.rooms).filter(([, room]) => room.shop === name);
    if (rooms.length === 0) return;
    const now = this.#parts.world.clock.now();
    const figures = await shop.desk.figures(now);
    for (const [room, { whenSoldOut }] of rooms) {
      const { products } = await shop.counter.feed(room, "everybody").read();
      const outlook = stockOutlook(products, (id) => shop.counter.isForSale(id), figures.rooms[room]);
      this.#parts.gateway.noteStock(room, outlook);
      await this.#noteSoldOut(room, outlook, whenSoldOut);
    }
  }

  async #tellDoor({ name, desk, counter }: OpenShop): Promise<void> {
    const room = counter.paymentRoom;
    const isOpen = room === null || this.#parts.gateway.isLettingIn(room);
    if (this.#doors.get(name) === isOpen) return;
    await desk.setPaymentDoor(isOpen, this.#parts.world.clock.now());
    this.#doors.set(name, isOpen);
  }

  async #noteSoldOut(
    room: string,
    { isSoldOut }: StockOutlook,
    whenSoldOut: "stay" | "close",
  ): Promise<void> {
    if (this.#soldOut.has(room) === isSoldOut) return;
    const { world, closeRoom } = this.#parts;
    if (!isSoldOut) {
      this.#soldOut.delete(room);
      world.log.info({ room }, "there is something to sell again");
      return;
    }
    world.log.info({ room, whenSoldOut }, "everything is sold");
    if (whenSoldOut === "close") await closeRoom(room);
    this.#soldOut.add(room);
  }

  #complain(cause: unknown): void {
    const { clock, log } = this.#parts.world;
    if (clock.now() - this.#complainedAt < COMPLAINT_PERIOD_MS) return;
    this.#complainedAt = clock.now();
    log.error({ err: cause }, "a shop does not answer");
  }
}
