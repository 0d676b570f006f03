/**
 * The script of the page that asks for a proof of work: it solves the task, hands the solution in to join, and loads the
 * address again, which then shows whatever came of it. A solution that was not taken leads back here, so each further
 * try of this tab waits longer.
 *
 * Plain JavaScript, put into the page behind `pow.js`.
 */
import { solve } from "./pow.js";

const FIRST_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 30_000;
/** Tries older than this have nothing to do with this one. */
const TRIES_KEPT_MS = 120_000;

const bar = document.querySelector("[data-challenge]");
const { room, challenge, bits } = bar.dataset;
const joinAddress = `/.fairgate/${room}/join`;

/** How often this tab has tried lately; one more from now on. */
function countTry() {
  try {
    const [tries, at] = JSON.parse(sessionStorage.getItem(joinAddress)) ?? [0, 0];
    const lately = Date.now() - at < TRIES_KEPT_MS ? tries : 0;
    sessionStorage.setItem(joinAddress, JSON.stringify([lately + 1, Date.now()]));
    return lately;
  } catch {
    return 1;
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** True when there was an answer, whatever it is; without a connection there is none. */
async function handIn(solution) {
  const headers = { accept: "application/json", "fairgate-work": solution };
  try {
    await fetch(joinAddress, { method: "POST", headers });
    return true;
  } catch {
    return false;
  }
}

async function join() {
  bar.hidden = false;
  const solution = await solve(challenge, Number(bits), (share) => {
    bar.value = share;
  });
  bar.value = 1;
  const tries = countTry();
  if (tries) await pause(Math.min(FIRST_PAUSE_MS * 2 ** tries, PAUSE_MAX_MS));
  while (!(await handIn(solution))) await pause(PAUSE_MAX_MS * Math.random());
  // Asked for anew, not reloaded: a page that answered a form must not send the form again. With the origin in front: a
  // path that begins with two slashes would name another host.
  location.replace(location.origin + location.pathname + location.search);
}

join();
