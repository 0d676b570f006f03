/**
 * The script of a page with a draw: explains it, and once it is made checks that the revealed seed is the promised one.
 *
 * The promise is the hash that this tab saw first, kept in the tab's own storage. The server cannot change it there, so a
 * seed chosen later is detected. A browser without WebCrypto, as on plain http, says nothing.
 *
 * Plain JavaScript, inlined after `page.js`.
 */
import {
  address,
  all,
  ask,
  isGathering,
  language,
  put,
  reveal,
  seen,
  texts,
  view,
  watchers,
} from "./page.js";
import { fill, numeral } from "./words.js";

/** The seed whose check is under way or done. */
let checkedSeed;
let isPlaceAsked = false;

function drawLot() {
  const { draw } = seen;
  const isRevealed = draw?.seed;
  put("waitingLabel", isGathering() ? texts.draw.gathered : texts.waiting);
  reveal("draw", isGathering() || isRevealed);
  if (!draw) return;
  const promised = promise(draw);
  put("seedHash", draw.seedHash);
  put("seed", draw.seed ?? "");
  reveal("seedRow", isRevealed);
  if (!isRevealed) return;
  // Visitors who saw the promise gathered for the draw; later ones have a place behind it, and no receipt.
  reveal("receipt", view.isDrawn || promised);
  if (promised && draw.seed !== checkedSeed) check(draw.seed, promised);
}

/** The hash seen first for this draw; null when its seed was already known then. */
function promise({ event, seedHash, seed }) {
  const key = `${address}draw ${event}`;
  try {
    if (!seed && !sessionStorage.getItem(key)) sessionStorage.setItem(key, seedHash);
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

async function check(seed, promised) {
  checkedSeed = seed;
  if (!window.crypto?.subtle) return;
  const bytes = Uint8Array.from(seed.match(/../g), (pair) => parseInt(pair, 16));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  put("drawCheck", hash === promised ? texts.draw.checked : texts.draw.wrong);
  reveal("drawCheck", true);
}

/** Asks for the receipt, which has the exact place; only on demand, or everyone would ask at once. */
async function showPlace() {
  if (isPlaceAsked || !seen.draw?.seed) return;
  isPlaceAsked = true;
  try {
    const { place, of } = await ask("receipt");
    const values = { place: numeral(language, place), of: numeral(language, of) };
    if (place) put("drawPlace", fill(texts.draw.place, values));
  } catch {
    isPlaceAsked = false;
  }
}

for (const details of all("drawDetails"))
  details.addEventListener("toggle", () => details.open && showPlace());
watchers.push(drawLot);
