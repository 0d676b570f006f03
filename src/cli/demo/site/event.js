/** The page of the event: what is sold, what is left of it as it changes, and the basket. */
import { basketLines, countdown } from "./basket.js";
import { createShop } from "./fairgate-client.js";
import { ABOUT, GROUPS } from "./programme.js";
import { openSheet } from "./sheet.js";
import { announce, counted, doing, fill, make, money, showOnline, timeLeft, toast } from "./words.js";

const FEW = 12;
/** Where the former visit's basket is of no more interest. */
const AGAIN = "/?again";

const shop = createShop({ room: "main" });
const panel = document.querySelector("[data-basket]");
const bar = document.querySelector("[data-bar]");
const cards = new Map();
/** Products this visitor waits for, as far as this page knows. */
const listed = new Map();
let shownVersion = -1;
let shownBasket;
let clock;

const byId = () => new Map(shop.getSnapshot().catalogue?.products.map((product) => [product.id, product]));
const nameOf = (id) => byId().get(id)?.name ?? id;

function stateOf({ state, available }) {
  if (state === "soldOut") return { tone: "gone", text: "Sold out", canAdd: false };
  if (available === 0 && state === "inPayment")
    return { tone: "wait", text: "All about to be paid for", canAdd: false };
  if (available === 0) return { tone: "wait", text: "All in baskets just now", canAdd: false };
  if (available !== null && available <= FEW)
    return { tone: "few", text: `Only ${available} left`, canAdd: true };
  return { tone: "calm", text: "Available", canAdd: true };
}

async function hold(wish, button) {
  const held = await doing(button, () => shop.hold(wish));
  if (held) {
    toast(`${counted(wish.count, "item")} in your basket: ${nameOf(wish.product)}.`);
    listed.delete(wish.product);
  }
  return held !== undefined;
}

function add(id, button) {
  const product = byId().get(id);
  if (product.options.length === 0 && product.choices.length === 0)
    return hold({ product: id, count: 1 }, button);
  const { currency } = shop.getSnapshot().catalogue;
  openSheet({ product, byId: byId(), currency, add: hold });
  return undefined;
}

async function wait(id, button) {
  const place = await doing(button, () => shop.joinList(id, 1));
  if (!place) return;
  listed.set(id, place);
  const ahead =
    place.ahead === 0 ? "you are the first" : `${counted(place.ahead, "person", "people")} before you`;
  toast(`You are on the waiting list: ${ahead}. When one comes back it is put into your basket.`);
  drawCatalogue();
}

async function stopWaiting(id, button) {
  await doing(button, () => shop.leaveList(id));
  listed.delete(id);
  drawCatalogue();
}

function newCard(product) {
  const pill = make("span", { class: "pill" });
  const button = make("button", { type: "button" });
  const price = make("span", { class: "price" });
  const title = make("h3", { id: `name-${product.id}` }, product.name);
  const card = make(
    "li",
    { class: "card" },
    title,
    price,
    make("p", { class: "about" }, ABOUT[product.id] ?? ""),
    pill,
    button,
  );
  return { card, pill, button, price };
}

function drawCard({ pill, button, price }, product, currency) {
  const { tone, text, canAdd } = stateOf(product);
  const { id, name, choices } = product;
  if (pill.textContent !== text) {
    if (pill.textContent !== "") {
      pill.classList.remove("changed");
      void pill.offsetWidth;
      pill.classList.add("changed");
      if (tone === "gone") announce(`${name}: sold out.`);
    }
    pill.textContent = text;
  }
  pill.dataset.tone = tone;
  const from = choices.some(({ from: members }) =>
    members.some((one) => (byId().get(one.product)?.price ?? 0) > 0),
  );
  price.replaceChildren(money(product.price, currency), from ? make("small", {}, "and two places") : "");
  const place = listed.get(id);
  const words = canAdd ? "Add" : place ? "Leave the list" : "Waiting list";
  if (button.textContent !== words) button.textContent = words;
  button.className = canAdd ? "" : "second";
  button.setAttribute("aria-label", `${words}: ${name}`);
  button.onclick = () => (canAdd ? add(id, button) : place ? stopWaiting(id, button) : wait(id, button));
  button.disabled = isClosed(shop.getSnapshot().basket) && canAdd;
}

function isClosed(basket) {
  return basket?.phase === "done" || basket?.phase === "paying";
}

function drawCatalogue() {
  const { catalogue } = shop.getSnapshot();
  if (!catalogue) return;
  const known = byId();
  for (const [group, ids] of Object.entries(GROUPS)) {
    const list = document.querySelector(`[data-group="${group}"]`);
    const shown = ids.filter((id) => known.get(id)?.isForSale);
    list.parentElement.hidden = shown.length === 0;
    for (const id of shown) {
      if (!cards.has(id)) cards.set(id, newCard(known.get(id)));
      const { card } = cards.get(id);
      if (card.parentElement !== list) list.append(card);
      drawCard(cards.get(id), known.get(id), catalogue.currency);
    }
    for (const id of ids) if (!shown.includes(id)) cards.get(id)?.card.remove();
  }
}

const leave = (event) => doing(event.currentTarget, () => shop.leave());
const undo = (held, button) => doing(button, () => shop.undo(held.id));

async function checkOut(event) {
  const done = await doing(event.currentTarget, () => shop.finish());
  if (done) location.assign("/pay");
}

function browsing(basket) {
  const isReady = basket.isValid && basket.holds.length > 0;
  const giveBack = make(
    "button",
    { type: "button", class: "plain wide", "data-key": "leave", onclick: leave },
    "Give everything back",
  );
  const pay = { type: "button", class: "wide", "data-key": "finish", disabled: !isReady, onclick: checkOut };
  return [
    clock.element,
    ...basketLines(basket, { nameOf, now: shop.now(), undo }),
    make("div", { class: "actions" }, make("button", pay, "Go to payment"), giveBack),
  ];
}

function closed(basket) {
  const giveBack = make(
    "button",
    { type: "button", class: "plain wide", "data-key": "leave", onclick: leave },
    "Give everything back",
  );
  return [
    make("p", { class: "notice" }, "This basket is on its way to payment and stays as it is."),
    clock.element,
    ...basketLines(basket, { nameOf, now: shop.now() }),
    make(
      "div",
      { class: "actions" },
      make("a", { class: "button wide", href: "/pay", "data-key": "pay" }, "Continue to payment"),
      giveBack,
    ),
  ];
}

/** One visit has one basket: the way to another is through the line. */
async function again(event) {
  await doing(event.currentTarget, () => fetch("/.fairgate/main/leave", { method: "POST" }));
  location.assign(AGAIN);
}

function departed(basket) {
  const button = make(
    "button",
    { type: "button", class: "wide", "data-key": "again", onclick: again },
    "Shop again",
  );
  if (!basket.order)
    return [make("p", { class: "notice" }, "Your basket was given back, and this visit is over."), button];
  return [
    make("p", { class: "notice", "data-tone": "good" }, "Paid. Thank you, and see you at the pier!"),
    make("p", {}, "Your order: ", make("span", { class: "code" }, basket.order)),
    button,
  ];
}

function drawBasket() {
  const { basket, catalogue } = shop.getSnapshot();
  if (!catalogue) return;
  clock ??= countdown((phase) =>
    phase === "browsing" ? "left to shop. Your basket is kept until then." : "left to pay",
  );
  const parts =
    basket?.phase === "browsing" && basket.holds.length > 0
      ? browsing(basket)
      : isClosed(basket)
        ? closed(basket)
        : basket?.phase === "departed" && location.pathname + location.search !== AGAIN
          ? departed(basket)
          : [
              make(
                "p",
                { class: "quiet" },
                "Nothing in it yet. What you take is kept for you while you choose.",
              ),
            ];
  fill(panel, ...parts);
  tick();
}

function tick() {
  const { basket } = shop.getSnapshot();
  const count = basket && basket.phase !== "departed" ? basket.holds.length : 0;
  bar.hidden = count === 0;
  if (count === 0) return;
  const left = basket.expiresAt === null ? "" : timeLeft(basket.expiresAt - shop.now());
  clock.tick(basket, shop.now());
  const words = [counted(count, "item"), money(basket.total, basket.currency), left]
    .filter(Boolean)
    .join(" · ");
  fill(bar, make("span", {}, words), make("span", {}, isClosed(basket) ? "To payment" : "Basket"));
}

shop.subscribe(({ catalogue, basket, isOnline }) => {
  showOnline(isOnline);
  const isOther = basket !== shownBasket;
  if (catalogue && (catalogue.version !== shownVersion || isOther)) drawCatalogue();
  if (catalogue && (shownVersion < 0 || isOther)) drawBasket();
  if (catalogue) shownVersion = catalogue.version;
  shownBasket = basket;
});
setInterval(tick, 1_000);
document.addEventListener("visibilitychange", () => !document.hidden && shop.refresh().catch(() => {}));
addEventListener("pageshow", (event) => event.persisted && location.reload());
await shop
  .open()
  .catch((problem) =>
    problem.code === "noPass"
      ? location.reload()
      : toast("The shop does not answer. Reload the page in a moment."),
  );
