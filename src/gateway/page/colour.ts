/**
 * The operator's one colour, made safe to use. It is pushed towards black on light ground and towards white on dark
 * ground until text in it can be read (WCAG 2.2, 1.4.3: 4.5 to 1); shapes in it then stand out from the progress bar's
 * track too (1.4.11: 3 to 1). Text on it is black or white, whichever is easier to read: one of the two always has 4.5
 * to 1. Whatever colour is set, everyone can see the heading, the bar and the button.
 */
type Rgb = readonly [red: number, green: number, blue: number];

/** WCAG's least contrast of text. */
const TEXT_CONTRAST_MIN = 4.5;
const STEPS = 50;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/** A colour written #rgb or #rrggbb, as #rrggbb; throws an Error for anything else. */
export function readColour(written: string): string {
  const match = /^#(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i.exec(written);
  if (!match) throw new Error(`"${written.slice(0, 40)}" is not a colour such as #1d4ed8 or #06c`);
  const digits = match[2] ?? match[1]!.replace(/./g, "$&$&");
  return `#${digits.toLowerCase()}`;
}

/** The nearest colour to `colour` that can be read on `ground`. */
export function accentOn(colour: string, ground: string): string {
  const wanted = toRgb(colour);
  const target = luminance(toRgb(ground)) > 0.18 ? BLACK : WHITE;
  let accent = colour;
  for (let step = 1; contrast(accent, ground) < TEXT_CONTRAST_MIN && step <= STEPS; step++) {
    accent = toHex(mix(wanted, target, step / STEPS));
  }
  return accent;
}

/** Black or white, whichever is easier to read on `ground`. At least one always reaches 4.5 to 1. */
export function textOn(ground: string): string {
  return contrast("#ffffff", ground) >= contrast("#000000", ground) ? "#ffffff" : "#000000";
}

/** Contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(a: string, b: string): number {
  const first = luminance(toRgb(a));
  const second = luminance(toRgb(b));
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
}

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  return [
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share,
  ];
}

function toRgb(colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function toHex(rgb: Rgb): string {
  return `#${rgb.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}
