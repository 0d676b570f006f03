/** Words and numbers of the demo's shop that both of its pages show: money, time left, what is in a basket, what went wrong. */

/** An amount in minor units, as the visitor's language writes it. */
export function money(amount, currency) {
  const format = new Intl.NumberFormat(undefined, { style: "currency", currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}

/** 14:05, from milliseconds. */
export function timeLeft(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

export function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

/** The price of a hold with all that is in it. */
export function priceOf(hold) {
  return hold.price + hold.children.reduce((sum, child) => sum + priceOf(child), 0);
}

/** What comes with a hold, each with its count: "2 × Drink". */
export function contentsOf(hold, nameOf) {
  const counts = new Map();
  const add = ({ product, units, children }) => {
    counts.set(product, (counts.get(product) ?? 0) + units);
    children.forEach(add);
  };
  hold.children.forEach(add);
  return [...counts].map(([product, units]) =>
    units === 1 ? nameOf(product) : `${units} × ${nameOf(product)}`,
  );
}

/** Holds that are alike, together; those that a waiting list offered stand alone. */
export function groupsOf(holds) {
  const shape = ({ product, units, price, children }) => [product, units, price, children.map(shape)];
  const groups = new Map();
  for (const hold of holds) {
    const key = hold.offerEndsAt === null ? JSON.stringify(shape(hold)) : hold.id;
    groups.set(key, [...(groups.get(key) ?? []), hold]);
  }
  return [...groups.values()];
}

const PROBLEMS = {
  insufficientStock: ({ left }) =>
    left > 0
      ? `Only ${left} left, so nothing was added.`
      : "Somebody was faster: there are none left just now.",
  soldOut: () => "That is sold out.",
  limitReached: ({ max }) => `At most ${max} for each customer.`,
  tooFast: () => "That was quick. Wait a moment and try again.",
  tooManyCalls: () => "That was quick. Wait a moment and try again.",
  frozen: () => "Your basket is on its way to payment, so it stays as it is.",
  expired: () => "This visit's basket is over. “Shop again” begins another visit.",
  noBasket: () => "There is nothing in your basket.",
  notOpen: () => "The shop is not open just now.",
  notOffered: () => "That is not offered just now.",
  attemptsUsed: () => "There are no attempts left.",
  wrongPhase: () => "That is not possible any more.",
  network: () => "There is no connection. Nothing is lost: try again in a moment.",
};

/** What went wrong, for the visitor. */
export function problemText({ code, details = {} }) {
  return PROBLEMS[code]?.(details) ?? "That did not work. Try again in a moment.";
}

/** An element with attributes and children: texts, or elements. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces what is in an element, and keeps the focus where it was, by `data-key`. */
export function fill(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  element.replaceChildren(...children.filter(Boolean));
  if (key) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

let toastTimer;

/** Shows a short message, which screen readers read out, for some seconds. */
export function toast(text) {
  const element = document.querySelector("[data-toast]");
  clearTimeout(toastTimer);
  element.textContent = text;
  toastTimer = setTimeout(() => {
    element.textContent = "";
  }, 6_000);
}

/** For screen readers alone. */
export function announce(text) {
  document.querySelector("[data-announce]").textContent = text;
}

/** Does what a button asks for, once at a time, and says what went wrong. */
export async function doing(button, work) {
  if (button.getAttribute("aria-busy") === "true") return undefined;
  button.setAttribute("aria-busy", "true");
  try {
    return await work();
  } catch (problem) {
    // The visit is over: the way back leads through the line.
    if (problem.code === "noPass") location.assign("/");
    else toast(problemText(problem));
    return undefined;
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** Says when nothing answers. */
export function showOnline(isOnline) {
  const element = document.getElementById("offline");
  element.hidden = isOnline;
  const text = isOnline ? "" : "No connection just now. Your basket is kept; this page goes on by itself.";
  if (element.textContent !== text) element.textContent = text;
}
