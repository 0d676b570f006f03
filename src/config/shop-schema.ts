/**
 * Shops, as settings: what belongs into a file and seldom changes. What a shop sells is its catalogue, which is set at the control
 * address (`PUT /shops/{shop}`) or, the first time, from `catalogueFile`. Rooms name the shop they sell from (`rooms.NAME.shop`).
 *
 * Secrets are never written here, only where to find them: `shop-secrets.ts` reads them. What these settings mean for others is
 * checked in `shop-check.ts`.
 */
import { z } from "zod";
import { choice, count, fileName, isTrue, readable, setting, text } from "./kinds.ts";
import { claimValue, cookieName, jwtKeySettings } from "./lane-schema.ts";
import { namedSecretSettings, variableName } from "./named-secret.ts";
import type { Read } from "./route.ts";

export const SHOPS_MAX = 100;
const CALLS_MAX = 1_000_000;
const ADDRESS_CHARACTERS_MAX = 1_000;
/** As `URL` writes them. */
const THIS_MACHINE = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

const customerSchema = z
  .strictObject({
    cookie: setting(cookieName(), null).describe(
      "Cookie that holds the JWT, used when there is no `Fairgate-Customer` header. null: none.",
    ),
    claim: setting(claimValue(), "sub").describe(
      "Claim that names the customer. `app.id` is `id` inside `app`.",
    ),
    required: setting(isTrue(), false).describe(
      "true: nobody takes anything from the shop without such a JWT. false: limits then count for the visit.",
    ),
    ...jwtKeySettings("nobody is known as a customer"),
  })
  .meta({ shape: "a mapping with one of secretVariable, secretFile, publicKey, jwks" });

const paymentSchema = z
  .strictObject({
    callbacks: setting(choice(["standard", "stripe"]), "standard").describe(
      "In which form the payment provider calls `POST /.fairgate/<room>/shop/payments`: `standard` as in Standard Webhooks, `stripe` as Stripe does.",
    ),
    ...namedSecretSettings({ like: "SHOP_PAYMENT_SECRET", purpose: "the provider signs its callbacks with" }),
    url: setting(webAddress("https://pay.example"), null).describe(
      "Address of the provider, which is asked there to capture, void or refund a payment. null: Stripe's own; with `standard`, the answer to each callback says what is to be done.",
    ),
    apiKeyVariable: setting(variableName("SHOP_STRIPE_KEY"), null).describe(
      "Environment variable that holds the provider's API key, with `stripe`.",
    ),
    apiKeyFile: setting(fileName(), null).describe("File that holds the API key instead."),
  })
  .meta({ shape: "a mapping with secretVariable or secretFile" });

const ordersSchema = z
  .strictObject({
    webhook: webAddress("https://shop.example/orders").describe(
      "Address that is told of every order (POST), in the form of Standard Webhooks, until it answers with a status from 200 to 299.",
    ),
    ...namedSecretSettings({ like: "SHOP_ORDERS_SECRET", purpose: "these calls are signed with" }),
  })
  .meta({ shape: "a mapping with webhook and one of secretVariable, secretFile" });

export const shopSchema = z.strictObject({
  catalogueFile: setting(fileName(), null).describe(
    "File with the catalogue the shop begins with, in YAML or JSON. It is read when the shop has none; afterwards the catalogue is changed with `fairgate shop set` or at the control address. null: none.",
  ),
  customer: setting(customerSchema, null).describe(
    "Who is one customer over several visits, for the limits of the catalogue: a JWT that your site signs and its page sends in the `Fairgate-Customer` header. null: every visit is a customer of its own.",
  ),
  payment: setting(paymentSchema, null).describe(
    "How the payment provider tells what became of a payment. null: there is no provider, and `pay` sells at once.",
  ),
  orders: setting(ordersSchema, null).describe(
    "Who is told of orders. null: nobody; they are at the control address.",
  ),
  callsPerVisitorMax: setting(count({ min: 1, max: CALLS_MAX }), 120).describe(
    "The most calls of one visitor to the shop in a minute. Further ones get 429.",
  ),
  callsPerAddressMax: setting(count({ min: 1, max: CALLS_MAX }), 3_000).describe(
    "The same for one IP address (IPv6: one /64), however many visitors share it.",
  ),
});

/** The settings of a room that are about its shop. */
export const roomShopSettings = {
  shop: setting(text({ max: 32, shape: "the name of one of the shops at the top" }), null).describe(
    "The shop that this room sells from. null: none.",
  ),
  whenSoldOut: setting(choice(["stay", "close"]), "stay").describe(
    "What becomes of the line when everything that the room's shop offers in it is sold: `stay`, those who wait are told so and stay; `close`, the room is closed as by `closed: true`.",
  ),
};

export type ShopSettings = z.output<typeof shopSchema>;
export type PaymentProviderSettings = NonNullable<ShopSettings["payment"]>;
export type CustomerSettings = NonNullable<ShopSettings["customer"]>;

/** Where something is sent. */
function webAddress(like: string) {
  return readable(readWebAddress, {
    kind: "address",
    max: ADDRESS_CHARACTERS_MAX,
    shape: `an address such as ${like}, over https or on this machine`,
  });
}

function readWebAddress(written: string): Read<string> {
  const url = URL.parse(written);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return { wrong: "is neither http nor https" };
  if (url.protocol === "http:" && !THIS_MACHINE.test(url.hostname)) return { wrong: "is not https" };
  if (url.username !== "" || url.password !== "") return { wrong: "has a user name or password in it" };
  return url.hash === "" ? { value: written } : { wrong: "has a # in it" };
}
