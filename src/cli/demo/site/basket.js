/** The basket, as both pages show it: its lines, its sum, and how long it is kept. */
import { announce, contentsOf, groupsOf, make, money, priceOf, timeLeft } from "./words.js";

const SOON_MS = 120_000;
/** Screen readers hear of the time left at these instants before the end. */
const TOLD_AT_MS = [300_000, 120_000, 30_000];

/** One line for each group of holds that are alike. `undo` is called with the last of a group; without it nothing can be removed. */
export function basketLines(basket, { nameOf, now, undo }) {
  const lines = groupsOf(basket.holds).map((holds) => {
    const hold = holds.at(-1);
    const each = holds.length > 1 ? "each with " : "with ";
    const contents = contentsOf(hold, nameOf)
      .map((text, n) => (n === 0 ? each + text : text))
      .join(", ");
    const name = nameOf(hold.product);
    const offer = hold.offerEndsAt === null ? null : `yours for ${timeLeft(hold.offerEndsAt - now)}`;
    const missing = hold.isValid ? null : "something has to be chosen still";
    const remove = () =>
      make(
        "button",
        {
          type: "button",
          class: "plain",
          "data-key": `undo ${hold.product}`,
          "aria-label": `Remove one: ${name}`,
          onclick: (event) => undo(hold, event.currentTarget),
        },
        "Remove",
      );
    return make(
      "li",
      {},
      make("b", {}, holds.length > 1 ? `${holds.length} × ${name}` : name),
      make("span", { class: "price" }, money(priceOf(hold) * holds.length, basket.currency)),
      make(
        "ul",
        { class: "with" },
        ...[contents, offer, missing].filter(Boolean).map((text) => make("li", {}, text)),
      ),
      undo ? remove() : null,
    );
  });
  return [
    make("ul", { class: "lines" }, ...lines),
    make(
      "p",
      { class: "total" },
      make("span", {}, "Total"),
      make("span", {}, money(basket.total, basket.currency)),
    ),
  ];
}

/** The clock of a basket's phase: an element, and what moves it on once a second. */
export function countdown(label) {
  const time = make("b", { role: "timer" });
  const words = make("span", {});
  const element = make("p", { class: "clock" }, time, words);
  let before = Number.POSITIVE_INFINITY;
  const tick = (basket, now) => {
    const { expiresAt, phase } = basket;
    const leftMs = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt - now;
    time.hidden = expiresAt === null;
    const text = expiresAt === null ? "Nobody can pay just now, so your time stands still." : label(phase);
    if (words.textContent !== text) words.textContent = text;
    time.textContent = expiresAt === null ? "" : timeLeft(leftMs);
    element.dataset.tone = leftMs < SOON_MS ? "few" : "calm";
    const passed = TOLD_AT_MS.find((at) => before > at && leftMs <= at && leftMs > 0);
    if (passed && before !== Number.POSITIVE_INFINITY)
      announce(`Your basket is kept for ${timeLeft(leftMs)} more.`);
    before = leftMs;
  };
  return { element, tick };
}
