/**
 * How the page looks, checked once when the gateway starts: the operator's colour made readable on light and on dark
 * ground, the logo's address made harmless, and the headers that keep everything else out.
 */
import { accentOn, readColour } from "./colour.ts";

/** The progress bar's track, as --line in page.css: what the accent must stand out from the most. */
const LIGHT_TRACK = "#dfe4eb";
const DARK_TRACK = "#323c48";

/** Style text that sets the colours page.css leaves open. It goes behind it. */
export function colourStyle(colour: string, background: string | null): string {
  const wanted = readColour(colour);
  const light = `:root{${accentText(wanted, LIGHT_TRACK)}}`;
  const dark = `@media (prefers-color-scheme:dark){:root{${accentText(wanted, DARK_TRACK)}}}`;
  if (background === null) return light + dark;
  return `${light}${dark}@media (prefers-color-scheme:light){:root{--ground:${readColour(background)}}}`;
}

/** A small picture for the tab: a door ajar in the operator's colour. */
export function tabIcon(colour: string): string {
  const { accent, onAccent } = accentOn(readColour(colour), LIGHT_TRACK);
  const door = `<path fill="${onAccent}" d="M9 7h9v18H9z"/><path fill="${accent}" d="M15 15h1v3h-1z"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${accent}"/>${door}</svg>`;
  return `data:image/svg+xml,${svg.replace(/[%#<>"]/g, encodeURIComponent)}`;
}

/** The logo's address as it was set; throws an Error for one that is neither a picture nor a web address. */
export function readLogo(logo: string): string {
  if (/^data:image\/[a-z0-9.+-]+[;,]/i.test(logo)) return logo;
  if (/^https?:\/\//i.test(logo) && URL.canParse(logo)) return logo;
  if (/^\/(?:[^/\\\s][^\\\s]*)?$/.test(logo)) return logo;
  throw new Error(
    `the logo "${logo.slice(0, 40)}" is not an https:// or data:image/ address, or a path such as /logo.svg`,
  );
}

export interface Policy {
  readonly logo: string | null;
  /** A page of the operator's own may show pictures, fonts and styles from elsewhere; scripts need the nonce. */
  readonly isCustom: boolean;
}

/** What the page may load: nothing but itself, and what the look calls for. The text before and after the nonces. */
export function contentPolicy({ logo, isCustom }: Policy): (nonce: string) => string {
  const elsewhere = isCustom ? " https:" : "";
  const logoFrom = logo !== null && /^https?:/i.test(logo) ? ` ${new URL(logo).origin}` : "";
  const rest = [
    `img-src 'self' data:${isCustom ? elsewhere : logoFrom}`,
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

function accentText(wanted: string, track: string): string {
  const { accent, onAccent } = accentOn(wanted, track);
  return `--a:${accent};--on:${onAccent}`;
}
