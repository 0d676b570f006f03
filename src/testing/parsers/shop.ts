/** Parsers of what visitors send to a shop, and organisers to the control address. Files are read from the organiser's own disk. */
import { readCatalogue } from "../../config/catalogue-form.ts";
import { shopAddressAt } from "../../gateway/shop/shop-addresses.ts";
import { Keyring } from "../../gateway/tokens/keyring.ts";
import { readShopToken } from "../../gateway/tokens/shop-token.ts";
import { readCount, readWish } from "../../shop/api/wishes.ts";
import { again, type Parser } from "./parser.ts";

const keyring = new Keyring({ secret: "a".repeat(32), previousSecrets: [] });

export const SHOP_PARSERS: readonly Parser[] = [
  {
    name: "shop: address",
    read: (text) => shopAddressAt(`/.fairgate/main/shop/${text}`),
    worst: [again("/"), again("%"), again("%41", { before: "holds/" }), again("holds/")],
  },
  {
    name: "shop: token",
    read: (text) => readShopToken(text, { room: "main", keyring, now: 0 }),
    worst: [again("A"), again("AgU"), again("-_", { before: "AgUA" })],
  },
  {
    name: "shop: wish",
    read: (text) => readWish(Buffer.from(text)),
    worst: [
      again('{"chosen":['),
      again("["),
      again('{"product":"a"},', { before: '{"product":"a","chosen":[', after: '{"product":"a"}]}' }),
      again('"a":1,', { before: "{", after: '"b":1}' }),
    ],
  },
  {
    name: "shop: count",
    read: (text) => readCount(Buffer.from(text)),
    worst: [
      again('"a":1,', { before: "{", after: '"b":1}' }),
      again("1", { before: '{"count":', after: "}" }),
    ],
  },
  {
    name: "shop: catalogue",
    read: (text) => readCatalogue({ currency: text, products: { [text]: { stock: text, oversell: text } } }),
    worst: [again("1"), again("9", { after: "%" }), again("-")],
  },
];
