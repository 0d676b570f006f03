/**
 * What the demo sells and under which rules: an evening with three kinds of tickets, a bundle of two places of any kind, parking and
 * things to take home; a line in front of the shop, and another in front of payment.
 */

import { OTHER_CHECKS } from "../../assembly/other-checks.ts";
import type { CatalogueInput } from "../../config/catalogue-schema.ts";
import { settingsFrom } from "../../config/load.ts";
import type { Settings, SettingsInput } from "../../config/schema.ts";

export const DEMO_SHOP = "tickets";
export const PAYMENT_ROOM = "payment";
export const DEMO_LIMITS = { totalActiveUsers: 40, newUsersPerMinute: 300 };
const PAYING_MAX = 12;
const CATALOGUE_FILE = "catalogue.json";
const SECRET_VARIABLE = "DEMO_PAYMENT_SECRET";

const PLACES = { front: 2, balcony: 2, standing: 2 };

/** So much that some of it sells out while one looks on. Prices are in cents. */
export const CATALOGUE: CatalogueInput = {
  currency: "EUR",
  products: {
    front: {
      name: "Front row",
      price: 9_500,
      stock: 24,
      limitPerCustomer: 4,
      options: { programme: 1, parking: 1 },
    },
    balcony: {
      name: "Balcony",
      price: 6_000,
      stock: 160,
      limitPerCustomer: 6,
      options: { programme: 1, parking: 1 },
    },
    standing: {
      name: "Standing",
      price: 3_500,
      stock: 900,
      limitPerCustomer: 6,
      options: { programme: 1, parking: 1 },
    },
    evening: {
      name: "An evening for two",
      price: 1_800,
      stock: 60,
      limitPerCustomer: 2,
      parts: { drink: 2, programme: 1 },
      options: { parking: 1 },
      choices: { places: { from: PLACES, min: 2, max: 2 } },
    },
    shirt: {
      name: "Tour shirt",
      price: 2_500,
      stock: null,
      choices: {
        size: { from: { "shirt-s": 1, "shirt-m": 1, "shirt-l": 1, "shirt-xl": 1 }, min: 1, max: 1 },
      },
    },
    programme: { name: "Programme", price: 800, stock: null },
    parking: { name: "Parking by the pier", price: 1_200, stock: 40, forSale: false },
    drink: { name: "Drink in the interval", stock: null, forSale: false },
    "shirt-s": { name: "Size S", stock: 30, forSale: false },
    "shirt-m": { name: "Size M", stock: 40, forSale: false },
    "shirt-l": { name: "Size L", stock: 40, forSale: false },
    "shirt-xl": { name: "Size XL", stock: 6, forSale: false },
  },
  policies: {
    itemsMax: 10,
    shoppingWindow: "8m",
    doneWindow: "6m",
    payingWindow: "4m",
    offerWindow: "2m",
    payment: { room: PAYMENT_ROOM, attemptsMax: 3 },
  },
};

export interface SceneParts {
  readonly port: number;
  readonly shop: string;
  readonly data: string;
  readonly token: string;
  /** Of the gateway. */
  readonly secret: string;
  /** What the payment provider signs with. */
  readonly paymentSecret: string;
  /** In place of some of the demo's settings. */
  readonly rooms?: SettingsInput["rooms"];
}

export function demoSettings(parts: SceneParts): Settings {
  const { port, shop, data, token, secret, paymentSecret, rooms } = parts;
  const input: SettingsInput = {
    data,
    listen: `127.0.0.1:${port}`,
    secret,
    control: { listen: `127.0.0.1:${port === 0 ? 0 : port + 1}`, token },
    origin: { addresses: [shop] },
    shops: {
      [DEMO_SHOP]: {
        catalogueFile: CATALOGUE_FILE,
        payment: { callbacks: "standard", secretVariable: SECRET_VARIABLE, url: shop },
        callsPerAddressMax: 100_000,
      },
    },
    rooms: {
      main: {
        ...DEMO_LIMITS,
        shop: DEMO_SHOP,
        sessionDuration: "60s",
        claimWindow: "30s",
        lapseAfter: "15s",
        message: "This is the demo: half a minute at most, then the shop opens for you.",
        page: { title: "The Small Shop" },
        ...rooms?.main,
      },
      [PAYMENT_ROOM]: {
        path: "/pay",
        totalActiveUsers: PAYING_MAX,
        sessionDuration: "60s",
        claimWindow: "30s",
        lapseAfter: "15s",
        message: "Your tickets are kept for you while you wait here.",
        page: { title: "The Small Shop: payment" },
        ...rooms?.[PAYMENT_ROOM],
      },
    },
  };
  const result = settingsFrom(input, {
    environment: { [SECRET_VARIABLE]: paymentSecret },
    readFile: (name) => (name.endsWith(CATALOGUE_FILE) ? JSON.stringify(CATALOGUE) : ""),
    ...OTHER_CHECKS,
  });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.settings;
}
