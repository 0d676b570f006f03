/** Checks of shops, and of the rooms that sell from them. What the catalogue says is checked when it is set. */
import { checkJwtKeys } from "./lane-members.ts";
import { isName, NAME_SHAPE } from "./name.ts";
import type { NamedSecret } from "./named-secret.ts";
import { nearest } from "./nearest.ts";
import { type Finding, formatPath, type Path, safeText } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings } from "./schema.ts";
import { type PaymentProviderSettings, SHOPS_MAX, type ShopSettings } from "./shop-schema.ts";

const NAME_CHARACTERS_MAX = 60;

/** Problems of shops with themselves and with other settings. */
export function checkShops(settings: Known<FileSettings>): Finding[] {
  const names = Object.keys(settings.shops ?? {});
  return [
    ...checkNumber(names.length),
    ...names.flatMap(checkName),
    ...checkPlace(settings, names),
    ...names.flatMap((name) => checkShop(settings.shops?.[name] ?? {}, ["shops", name])),
    ...checkRooms(settings.rooms ?? {}, names),
  ];
}

/** Shops that nothing can be bought from. */
export function shopCautions({ shops, rooms }: Known<FileSettings>): Finding[] {
  const used = new Set(Object.values(rooms ?? {}).map((room) => room?.shop));
  return Object.keys(shops ?? {})
    .filter((name) => !used.has(name))
    .map((name): Finding => {
      const path = ["shops", name];
      const message = `no room sells from the shop ${safeText(name, NAME_CHARACTERS_MAX)}`;
      return { code: "caution", path, at: "key", message, hint: `Write shop: ${name} in a room.` };
    });
}

function checkNumber(shops: number): Finding[] {
  if (shops <= SHOPS_MAX) return [];
  const message = `there are ${shops} shops`;
  return [{ code: "too-large", path: ["shops"], at: "key", message, hint: `There can be ${SHOPS_MAX}.` }];
}

function checkName(name: string): Finding[] {
  if (isName(name)) return [];
  const message = `"${safeText(name, NAME_CHARACTERS_MAX)}" cannot be a shop's name`;
  return [{ code: "invalid", path: ["shops", name], at: "key", message, hint: `A name is ${NAME_SHAPE}.` }];
}

/** What was sold must outlive the process. With Redis it is kept there; in a cluster the rooms that sell are refused (`capability-check.ts`). */
function checkPlace({ data, redis, cluster }: Known<FileSettings>, names: readonly string[]): Finding[] {
  if (names.length === 0 || data !== null || redis || cluster) return [];
  const path = ["shops"];
  const message = "there are shops, and no data directory to keep what is sold";
  return [{ code: "missing", path, at: "key", message, hint: "Set data, such as data: ./fairgate-data." }];
}

function checkShop({ customer, payment, orders }: Known<ShopSettings>, path: Path): Finding[] {
  return [
    ...(customer ? checkJwtKeys(customer, [...path, "customer"]) : []),
    ...(payment ? [...checkSecretPlace(payment, [...path, "payment"]), ...checkApiKey(payment, path)] : []),
    ...(orders ? checkSecretPlace(orders, [...path, "orders"]) : []),
  ];
}

function checkSecretPlace({ secretVariable, secretFile }: Known<NamedSecret>, path: Path): Finding[] {
  if (secretVariable === undefined || secretFile === undefined) return [];
  if (secretVariable === null && secretFile === null) {
    const message = `${formatPath(path)} has no secret`;
    return [{ code: "missing", path, at: "key", message, hint: "Set secretVariable or secretFile." }];
  }
  if (secretVariable === null || secretFile === null) return [];
  const message = `${formatPath([...path, "secretVariable"])} and secretFile are both set`;
  return [{ code: "conflict", path: [...path, "secretFile"], at: "key", message, hint: "Keep one of them." }];
}

/** Stripe does nothing without its key, and others have none. */
function checkApiKey(payment: Known<PaymentProviderSettings>, path: Path): Finding[] {
  const { callbacks, apiKeyVariable, apiKeyFile } = payment;
  if (callbacks === undefined || apiKeyVariable === undefined || apiKeyFile === undefined) return [];
  const at = [...path, "payment"];
  const hasKey = apiKeyVariable !== null || apiKeyFile !== null;
  if (callbacks === "stripe" && !hasKey) {
    const message = `${formatPath(at)} has no API key, with which Stripe is asked to capture and refund`;
    return [{ code: "missing", path: at, at: "key", message, hint: "Set apiKeyVariable or apiKeyFile." }];
  }
  if (callbacks === "stripe" || !hasKey) return [];
  const key = apiKeyVariable !== null ? "apiKeyVariable" : "apiKeyFile";
  const message = `${formatPath([...at, key])} is set, and only stripe has an API key`;
  return [{ code: "conflict", path: [...at, key], at: "key", message, hint: "Take it out." }];
}

/** Every shop that a room names is there. */
function checkRooms(rooms: Known<FileSettings["rooms"]>, names: readonly string[]): Finding[] {
  return Object.entries(rooms).flatMap(([name, room]): Finding[] => {
    const path = ["rooms", name, "shop"];
    const shop = room?.shop;
    if (shop === undefined) return [];
    if (shop === null) return room?.whenSoldOut === "close" ? [nothingSold(name)] : [];
    if (names.includes(shop)) return [];
    const message = `${formatPath(path)} is "${safeText(shop, NAME_CHARACTERS_MAX)}", and there is no such shop`;
    const near = nearest(shop, names);
    const hint = near ? `Did you mean ${near}?` : "Write it under shops at the top.";
    return [{ code: "conflict", path, at: "value", message, hint }];
  });
}

function nothingSold(room: string): Finding {
  const path = ["rooms", room, "whenSoldOut"];
  const message = `${formatPath(path)} is close, and the room has no shop`;
  return { code: "conflict", path, at: "value", message, hint: "Set shop, or take whenSoldOut out." };
}
