/**
 * The page behind the payment room's door: what is to be paid, a pretend card, and what came of it.
 *
 *   choose ──click──▶ sending ──the provider took the card──▶ waiting ──its callback──▶ over
 *      ▲                 │
 *      └── it did not ───┘
 */
import { basketLines, countdown } from "./basket.js";
import { createShop } from "./fairgate-client.js";
import { announce, counted, doing, fill, make, money, showOnline, toast } from "./words.js";

const CARDS = [
  { id: "good", name: "A card that works", about: "ends in 4242" },
  { id: "declined", name: "A card that is declined", about: "ends in 0002" },
];

const shop = createShop({ room: "main" });
const panel = document.querySelector("[data-pay]");
const title = document.getElementById("pay-title");
const clock = countdown(() => "left to pay. Your basket is kept until then.");
let card = "good";
let step = "choose";
let isDeclined = false;
let shown = {};

const nameOf = (id) =>
  shop.getSnapshot().catalogue?.products.find((product) => product.id === id)?.name ?? id;

/** Where the visitor is without the payment room's pass: in the line in front of this page. */
function needsTurn({ code }) {
  if (code === "noPaymentPass") location.reload();
}

async function pay(event) {
  await doing(event.currentTarget, async () => {
    step = "sending";
    isDeclined = false;
    try {
      const attempt = await shop.pay();
      draw();
      isDeclined = !(await sendCard(attempt));
    } catch (problem) {
      step = "choose";
      needsTurn(problem);
      throw problem;
    }
    step = isDeclined ? "choose" : "waiting";
    announce(isDeclined ? "The card was declined." : "The card was taken.");
    await shop.refresh();
    draw();
  });
}

/** As the provider's own form would send it. True: the card was taken. */
async function sendCard({ attempt, amount, currency }) {
  const answer = await fetch("/pay/card", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ attempt, amount, currency, card }),
  }).catch(() => null);
  if (!answer?.ok) throw { code: "network" };
  return (await answer.json()).isTaken;
}

const leave = (event) => doing(event.currentTarget, () => shop.leave());

/** The way back into the shop is through its line, as a new visit. */
async function again(event) {
  await doing(event.currentTarget, () => fetch("/.fairgate/main/leave", { method: "POST" }));
  location.assign("/?again");
}

function cardChoice({ id, name, about }) {
  const change = () => {
    card = id;
  };
  const state = { checked: id === card, disabled: step !== "choose", onchange: change };
  const input = make("input", { type: "radio", name: "card", value: id, "data-key": `card ${id}`, ...state });
  return make("label", { class: "cardchoice" }, input, make("span", {}, name, make("small", {}, about)));
}

function payable(basket) {
  const { attemptsLeft, total, currency } = basket;
  const declined = `The card was declined. Your basket is kept; ${counted(attemptsLeft, "attempt")} left.`;
  const isBusy = step === "sending";
  const words = isBusy ? "Asking the bank…" : `Pay ${money(total, currency)}`;
  return [
    isDeclined && make("p", { class: "notice", "data-tone": "gone" }, declined),
    clock.element,
    ...linesOf(basket),
    make("fieldset", {}, make("legend", {}, "Pay with"), ...CARDS.map(cardChoice)),
    make(
      "div",
      { class: "actions" },
      make(
        "button",
        { type: "button", class: "wide", "data-key": "pay", disabled: isBusy, onclick: pay },
        words,
      ),
      make(
        "button",
        { type: "button", class: "plain wide", "data-key": "leave", onclick: leave },
        "Give everything back",
      ),
    ),
    make(
      "p",
      { class: "quiet" },
      "You may close this page at any time: come back before the clock ends, and it goes on from here.",
    ),
  ];
}

function waiting(basket) {
  return [
    make(
      "p",
      { class: "notice" },
      "Your card was taken. Waiting for word from the bank; you may close this page.",
    ),
    ...linesOf(basket),
  ];
}

function open() {
  return [
    make("p", { class: "notice" }, "Your basket is still open."),
    make("a", { class: "button wide", href: "/#basket" }, "Back to the basket"),
  ];
}

function over(basket) {
  const isPaid = Boolean(basket?.order);
  if (isPaid) title.textContent = "Thank you!";
  const words = isPaid
    ? "Paid. See you at the pier on Friday 13 December, doors at 18:45."
    : basket
      ? "Nothing was paid for, and what you had is back on sale."
      : "There is nothing to pay for. Take something first.";
  const order = isPaid && make("p", {}, "Your order: ", make("span", { class: "code" }, basket.order));
  const back = basket
    ? make("button", { type: "button", class: "wide", "data-key": "again", onclick: again }, "Shop again")
    : make("a", { class: "button wide", href: "/" }, "To the tickets");
  const tone = isPaid ? "good" : "calm";
  return [
    make("p", { class: "notice", "data-tone": tone }, words),
    order,
    ...(isPaid ? linesOf(basket) : []),
    back,
  ];
}

function linesOf(basket) {
  return basketLines(basket, { nameOf, now: shop.now() });
}

function draw() {
  const { basket } = shop.getSnapshot();
  const { phase } = basket ?? {};
  if (phase === "browsing") return fill(panel, ...open());
  if (phase === "done" || phase === "paying") {
    clock.tick(basket, shop.now());
    return fill(panel, ...(step === "waiting" ? waiting(basket) : payable(basket)));
  }
  const isNews = step === "waiting";
  step = "choose";
  fill(panel, ...over(basket));
  if (isNews) title.focus();
}

shop.subscribe(({ basket, catalogue, isOnline }) => {
  showOnline(isOnline);
  if (catalogue === null || (basket === shown.basket && catalogue.catalogueVersion === shown.version)) return;
  shown = { basket, version: catalogue.catalogueVersion };
  draw();
});
setInterval(() => {
  const { basket } = shop.getSnapshot();
  if (basket?.phase === "done" || basket?.phase === "paying") clock.tick(basket, shop.now());
}, 1_000);
document.addEventListener("visibilitychange", () => !document.hidden && shop.refresh().catch(() => {}));
await shop.open().then(draw, () => toast("The shop does not answer. Reload the page in a moment."));
