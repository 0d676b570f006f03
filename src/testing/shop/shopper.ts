/** A visitor of a test's gateway who shops, and the stage with a shop behind its room. */
import type { OutgoingHttpHeaders } from "node:http";
import type { TestContext } from "node:test";
import { readCatalogue } from "../../config/catalogue-form.ts";
import type { CatalogueInput } from "../../config/catalogue-schema.ts";
import type { RoomInput, SettingsInput } from "../../config/schema.ts";
import { openStage, type Stage, type StageOptions } from "../gateway/stage.ts";
import type { HttpAnswer, Visitor } from "../gateway/visitor.ts";
import { type BookDesk, deskOfBook } from "./desk-of-book.ts";

/** Ten seats, a bundle with two of them, and something without end. */
export const TEN_SEATS: CatalogueInput = {
  currency: "EUR",
  products: {
    seat: { name: "Seat", price: 4_500, stock: 10, limitPerCustomer: 6, options: { parking: 1 } },
    pair: { name: "Two seats", price: 8_000, stock: null, parts: { seat: 2 } },
    parking: { price: 800, stock: null, forSale: false },
  },
  policies: { shoppingWindow: "10m", doneWindow: "20m", payingWindow: "5m" },
};

/** What the shop's addresses answer. */
export interface ShopWords {
  readonly status: string;
  readonly reason?: string;
  readonly why?: string;
  readonly [field: string]: unknown;
}

export interface ShopCallOptions {
  readonly json?: unknown;
  readonly room?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export interface ShopTold {
  readonly answer: HttpAnswer;
  readonly status: number;
  readonly words: ShopWords;
}

/** One call of a visitor to the shop, such as `POST holds`. */
export async function shop(visitor: Visitor, what: string, options: ShopCallOptions = {}): Promise<ShopTold> {
  const [method, path] = what.split(" ") as [string, string];
  const { json, room = "main", headers = {} } = options;
  const answer = await visitor.ask(`/.fairgate/${room}/shop/${path}`, {
    method,
    headers: { ...(json !== undefined && { "content-type": "application/json" }), ...headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const isJson = String(answer.headers["content-type"]).startsWith("application/json");
  return { answer, status: answer.status, words: isJson ? JSON.parse(answer.text) : { status: answer.text } };
}

export interface ShopStage extends Stage {
  readonly desk: BookDesk;
  /** Someone who is on the site. */
  shopper(path?: string): Promise<Visitor>;
  /** Sets another catalogue. */
  setCatalogue(catalogue: CatalogueInput): Promise<void>;
}

export interface ShopStageOptions extends Omit<StageOptions, "deskOf" | "room"> {
  readonly catalogue?: CatalogueInput;
  readonly room?: RoomInput;
  /** Further rooms. */
  readonly rooms?: Record<string, RoomInput>;
  readonly shopSettings?: NonNullable<SettingsInput["shops"]>[string];
}

/** A stage whose room, for a thousand visitors, sells from a shop. */
export async function openShopStage(test: TestContext, options: ShopStageOptions = {}): Promise<ShopStage> {
  const { catalogue = TEN_SEATS, room, rooms, shopSettings = {}, settings, ...rest } = options;
  const desk = deskOfBook();
  const set = async (next: CatalogueInput, now: number) => {
    const reading = readCatalogue(next);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    const answer = await desk.setCatalogue(reading.written, { ifVersion: null, now });
    if (answer.kind === "refused") throw new Error(JSON.stringify(answer));
  };
  await set(catalogue, 1_700_000_000_000);
  const main = { totalActiveUsers: 1_000, newcomerDuration: "1d", shop: "tickets", ...room };
  const stage = await openStage(test, {
    ...rest,
    settings: { data: "./none", shops: { tickets: shopSettings }, rooms: { main, ...rooms }, ...settings },
    deskOf: () => desk,
  });
  return {
    ...stage,
    desk,
    shopper: async (path = "/") => {
      const visitor = stage.visitor();
      const { text } = await visitor.open(path);
      if (text !== "the site") throw new Error("there was no room for a shopper");
      return visitor;
    },
    setCatalogue: (next) => set(next, stage.world.clock.now()),
  };
}
