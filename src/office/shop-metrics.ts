/**
 * The metrics of shops (Pluijmaekers 2020, me2 to me8): people and tickets by phase, how many came and went, for each shop and for
 * each room that sells from it; and the units of each product, where there are not too many products.
 */
import type { ShopRoomFigures } from "../shop/api/organiser-shop.ts";
import { addCounter, addGauge, type Sample, type Scrape } from "./scrape.ts";
import type { ScrapedShop, Snapshot } from "./snapshot.ts";

type Row = readonly [name: string, help: string, samples: (figures: ShopRoomFigures) => readonly Part[]];
/** One sample of a row: a label beside shop and room, and the value. */
type Part = readonly [label: Readonly<Record<string, string>>, value: number];

const each = (label: string, values: Readonly<Record<string, number>>): Part[] =>
  Object.entries(values).map(([name, value]) => [{ [label]: name }, value]);

const NOW: readonly Row[] = [
  ["customers", "People with a basket, by phase.", ({ customers }) => each("phase", { ...customers })],
  [
    "tickets",
    "Tickets by where they are: reserved, pending, sold.",
    ({ tickets }) => each("state", { ...tickets }),
  ],
];

const SO_FAR: readonly Row[] = [
  ["arrived_total", "Baskets begun.", ({ arrived }) => [[{}, arrived]]],
  ["departed_total", "Baskets that have ended.", ({ departed }) => [[{}, departed]]],
  ["bought_total", "Baskets that ended with an order.", ({ bought }) => [[{}, bought]]],
];

/** Adds every shop's metrics to the scrape. */
export function addShopMetrics(scrape: Scrape): void {
  for (const row of NOW) for (const filled of filledBoth(row)) addGauge(scrape, filled);
  for (const row of SO_FAR) for (const filled of filledBoth(row)) addCounter(scrape, filled);
  addGauge(scrape, {
    name: "fairgate_shop_waiting_list_people",
    help: "People on waiting lists.",
    labelNames: ["shop"],
    samples: ({ shops }) =>
      shops.map(({ name, figures }) => ({ labels: { shop: name }, value: figures.waiting })),
  });
  addGauge(scrape, {
    name: "fairgate_shop_closed",
    help: "1 while nobody takes anything more.",
    labelNames: ["shop"],
    samples: ({ shops }) =>
      shops.map(({ name, figures }) => ({ labels: { shop: name }, value: Number(figures.isClosed) })),
  });
  addProducts(scrape);
}

/** For each shop, and for each of its rooms. */
function filledBoth([name, help, parts]: Row) {
  const labels = Object.keys(parts(NOBODY)[0]![0]);
  const ofShop = ({ shops }: Snapshot): Sample[] =>
    shops.flatMap(({ name: shop, figures }) =>
      parts(figures.total).map(([label, value]) => ({ labels: { shop, ...label }, value })),
    );
  const ofRooms = ({ shops }: Snapshot): Sample[] =>
    shops.flatMap(({ name: shop, figures }) =>
      Object.entries(figures.rooms).flatMap(([room, one]) =>
        parts(one).map(([label, value]) => ({ labels: { shop, room, ...label }, value })),
      ),
    );
  return [
    { name: `fairgate_shop_${name}`, help, labelNames: ["shop", ...labels], samples: ofShop },
    {
      name: `fairgate_shop_room_${name}`,
      help: `${help.slice(0, -1)}, for each room of the shop.`,
      labelNames: ["shop", "room", ...labels],
      samples: ofRooms,
    },
  ];
}

function addProducts(scrape: Scrape): void {
  const perProduct =
    (value: (stock: ScrapedShop["stock"][number]) => readonly Part[]) => (snapshot: Snapshot) =>
      snapshot.shops.flatMap(({ name: shop, stock }) =>
        stock.flatMap((one) =>
          value(one).map(([label, number]) => ({
            labels: { shop, product: one.id, ...label },
            value: number,
          })),
        ),
      );
  addGauge(scrape, {
    name: "fairgate_shop_product_units",
    help: "Units of each product by where they are.",
    labelNames: ["shop", "product", "state"],
    samples: perProduct(({ counts }) => each("state", { ...counts })),
  });
  addGauge(scrape, {
    name: "fairgate_shop_product_stock",
    help: "Units of each product in all, where there is an end to them.",
    labelNames: ["shop", "product"],
    samples: perProduct(({ stock }) => (stock === null ? [] : [[{}, stock]])),
  });
}

const NOBODY: ShopRoomFigures = {
  customers: { browsing: 0, done: 0, paying: 0 },
  tickets: { reserved: 0, pending: 0, sold: 0 },
  arrived: 0,
  departed: 0,
  bought: 0,
};
