/**
 * The operator's look, checked once when a room is set up: colours that can be read in light and dark, harmless addresses of
 * images, and the headers that allow nothing else.
 */
import { accentOn, readColour, textOn } from "./colour.ts";

/** As --card in page.css: the ground of the accent. */
const LIGHT_CARD = "#ffffff";
const DARK_CARD = "#191f27";

export interface CardLook {
  /** #rgb or #rrggbb. */
  readonly colour: string;
  /** The same, behind the card in light mode. */
  readonly background?: string | null;
  /** The address of a picture behind the card. */
  readonly backgroundImage?: string | null;
}

/** The style that page.css leaves to the operator. It is appended to it. */
export function lookStyle({ colour, background, backgroundImage }: CardLook): string {
  const wanted = readColour(colour);
  const rules = [
    `:root{--b:${wanted};--on:${textOn(wanted)};--a:${accentOn(wanted, LIGHT_CARD)}}`,
    `@media (prefers-color-scheme:dark){:root{--a:${accentOn(wanted, DARK_CARD)}}}`,
  ];
  if (background)
    rules.push(`@media (prefers-color-scheme:light){:root{--ground:${readColour(background)}}}`);
  if (backgroundImage) {
    rules.push(
      `body::before{content:"";position:fixed;inset:0;z-index:-1;background:url("${cssAddress(backgroundImage)}") center/cover}`,
      "@media (prefers-color-scheme:dark){body::before{filter:brightness(.6)}}",
    );
  }
  return rules.join("");
}

/** A small picture for the tab: a door ajar in the operator's colour. */
export function tabIcon(colour: string): string {
  const ground = readColour(colour);
  const door = `<path fill="${textOn(ground)}" d="M9 7h9v18H9z"/><path fill="${ground}" d="M15 15h1v3h-1z"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${ground}"/>${door}</svg>`;
  return `data:image/svg+xml,${svg.replace(/[%#<>"]/g, encodeURIComponent)}`;
}

/** A picture's address as it was set; throws an Error for anything else. `what` names it there. */
export function readPicture(address: string, what: string): string {
  if (/^data:image\/[a-z0-9.+-]+[;,]/i.test(address)) return address;
  if (/^https?:\/\//i.test(address) && URL.canParse(address)) return address;
  if (/^\/(?:[^/\\\s][^\\\s]*)?$/.test(address)) return address;
  throw new Error(
    `the ${what} "${address.slice(0, 40)}" is not an https:// or data:image/ address, or a path such as /picture.svg`,
  );
}

/** A picture's address for a quoted url() inside a style element. */
function cssAddress(address: string): string {
  return readPicture(address, "background image").replace(/["\\<>\s]/g, encodeURIComponent);
}

/** Headers that every page of ours has, names and values in turn. */
export const SAFE_HEADERS: readonly string[] = Object.entries({
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
}).flat();

export interface Policy {
  /** Addresses of the pictures that the look has. */
  readonly pictures: readonly (string | null | undefined)[];
  /** A custom page may load images, fonts and styles from any https address; scripts need the nonce. */
  readonly isCustom: boolean;
}

/** The content policy for a nonce: the page may load only itself and what the look needs. */
export function contentPolicy({ pictures, isCustom }: Policy): (nonce: string) => string {
  const elsewhere = isCustom ? " https:" : "";
  const remote = pictures.filter((address) => address && /^https?:/i.test(address));
  const origins = new Set(remote.map((address) => ` ${new URL(address!).origin}`));
  const rest = [
    `img-src 'self' data:${isCustom ? elsewhere : [...origins].join("")}`,
    ...(isCustom ? ["font-src 'self' data: https:"] : []),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'self'",
  ].join("; ");
  const styles = isCustom ? " https:" : "";
  return (nonce) =>
    `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}' 'self'${styles}; ${rest}`;
}
