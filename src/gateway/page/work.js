/**
 * The script of the proof-of-work page: solves the task, joins with the solution and reloads the address, which then shows the
 * result. A rejected solution leads back here, so each further try of this tab waits longer.
 *
 * Plain JavaScript, inlined after `pow.js`.
 */
import { solve } from "./pow.js";

const FIRST_PAUSE_MS = 1_000;
const PAUSE_MAX_MS = 30_000;
/** Tries older than this do not count. */
const TRIES_KEPT_MS = 120_000;

const bar = document.querySelector("[data-challenge]");
const { room, challenge, bits } = bar.dataset;
const joinAddress = `/.fairgate/${room}/join`;

/** How often this tab has tried lately, before this try. */
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

/** True when there was any answer; false without a connection. */
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
  // Requested with GET, not reloaded: a page that answered a form must not send it again. With the origin in front, since a
  // path that begins with two slashes would name another host.
  location.replace(location.origin + location.pathname + location.search);
}

join();
