/** The sheet in which a visitor says how many they want, and what goes with each. */
import { SETS } from "./programme.js";
import { fill, make, money } from "./words.js";

const COUNT_MAX = 10;

/**
 * Opens the sheet for a product. `add` is called with the wish, and the sheet closes when it answers true. `byId` has all products.
 */
export function openSheet({ product, byId, currency, add }) {
  const sheet = document.getElementById("sheet");
  const picked = new Map();
  let count = 1;

  const nameOf = (id) => byId.get(id)?.name ?? id;
  const priceOf = (id) => byId.get(id)?.price ?? 0;
  const inSet = ({ from }) => from.reduce((sum, { product: id }) => sum + (picked.get(id) ?? 0), 0);
  const eachPrice = () => {
    let price = product.price;
    for (const [id, units] of picked) price += units * priceOf(id);
    return price;
  };
  const isWhole = () => product.choices.every((set) => inSet(set) >= set.min && inSet(set) <= set.max);

  function stepper({ key, label, value, min, max, set }) {
    const step = (by, text, sign) =>
      make(
        "button",
        {
          type: "button",
          class: "second",
          "data-key": `${key} ${sign}`,
          "aria-label": `${text}: ${label}`,
          disabled: value + by < min || value + by > max,
          onclick: () => {
            set(value + by);
            draw();
          },
        },
        sign,
      );
    const shown = make("output", { "aria-label": label }, String(value));
    return make("span", { class: "stepper" }, step(-1, "Fewer", "−"), shown, step(1, "More", "+"));
  }

  function pick({ product: id, max }, most) {
    const { available } = byId.get(id) ?? {};
    const value = picked.get(id) ?? 0;
    const price = priceOf(id) > 0 ? `+ ${money(priceOf(id), currency)}` : "included";
    const hint =
      available === 0
        ? "none left just now"
        : available < 10 && available !== null
          ? `${available} left`
          : "";
    const set = (units) => (units > 0 ? picked.set(id, units) : picked.delete(id));
    const top = Math.min(max, value + most, available ?? max);
    return make(
      "div",
      { class: "pick" },
      make("span", {}, nameOf(id), " ", make("small", {}, [price, hint].filter(Boolean).join(", "))),
      stepper({ key: id, label: nameOf(id), value, min: 0, max: top, set }),
    );
  }

  function setOf(set) {
    const { name, from, min, max } = set;
    const left = max - inSet(set);
    const hint = min === max ? `choose ${min}` : `choose ${min} to ${max}`;
    return make(
      "fieldset",
      {},
      make("legend", {}, `${SETS[name] ?? name} (${hint}, ${left} to go)`),
      ...from.map((one) => pick(one, left)),
    );
  }

  function draw() {
    const { available, limitPerCustomer } = product;
    const max = Math.min(COUNT_MAX, limitPerCustomer ?? COUNT_MAX, available ?? COUNT_MAX);
    const options = product.options.map((one) => pick(one, one.max));
    const each = count > 1 && (product.choices.length > 0 || options.length > 0) ? " for each" : "";
    const addIt = async (event) => {
      const chosen = [...picked].map(([id, units]) => ({ product: id, count: units }));
      if (await add({ product: product.id, count, chosen }, event.currentTarget)) sheet.close();
    };
    fill(
      sheet,
      make("h2", { id: "sheet-title" }, product.name),
      make(
        "div",
        { class: "pick" },
        make("span", {}, "How many"),
        stepper({
          key: "count",
          label: "How many",
          value: count,
          min: 1,
          max: Math.max(1, max),
          set: (n) => (count = n),
        }),
      ),
      ...product.choices.map(setOf),
      options.length > 0 && make("fieldset", {}, make("legend", {}, `Add to it${each}`), ...options),
      make(
        "p",
        { class: "total" },
        make("span", {}, "Together"),
        make("span", {}, money(count * eachPrice(), currency)),
      ),
      make(
        "div",
        { class: "actions" },
        make(
          "button",
          { type: "button", class: "wide", "data-key": "add", disabled: !isWhole(), onclick: addIt },
          "Add to basket",
        ),
        make(
          "button",
          { type: "button", class: "plain wide", "data-key": "close", onclick: () => sheet.close() },
          "Not now",
        ),
      ),
    );
  }

  draw();
  sheet.showModal();
}
