/** The real browser of the tests, and what a waiting page shows in it. */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { findChromium } from "../../scripts/chromium.ts";
import { GIVE_UP_MS } from "./cli/eventually.ts";

export const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // No sound: its library would leave a folder behind.
  "--disable-audio-output",
];
/** Only reached when something is broken. */
export const WAIT_MAX_MS = GIVE_UP_MS;
/** Not kept in the repository. */
export const SCREENSHOTS = fileURLToPath(new URL("../../test/screenshots/", import.meta.url));
/** A visitor who stays on the site loads a page this often. */
const PAGE_EVERY_MS = 3_000;
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error("there is no Chromium here; `npm test` says how to get one");
  return chromium.launch({ executablePath, args: ARGUMENTS, timeout: WAIT_MAX_MS });
}

/** Tells the test of every number the page ever shows, however briefly. */
const WATCHER = `new MutationObserver(() => {
  const parts = ["ahead", "waiting", "updated"].map((name) => document.querySelector('[data-live="' + name + '"]'));
  if (parts.every((part) => part)) console.debug("shown " + parts.map((part) => part.textContent).join(" "));
}).observe(document, { subtree: true, childList: true, characterData: true });`;

/** What the page showed at one moment. */
export interface ShownPage {
  readonly ahead: number;
  readonly waiting: number;
  /** The time of the last update, as the page writes it. */
  readonly updated: string;
}

/** A person at a browser of their own: one context, one tab at a time. */
export class Person {
  page!: Page;
  /** Console errors, and requests to other hosts. */
  readonly faults: string[] = [];
  /** Everything the page has shown so far, where it has JavaScript. */
  readonly shown: ShownPage[] = [];
  /** Pages loaded in the tab, for any reason. */
  loads = 0;
  readonly #address: string;
  readonly #newPage: () => Promise<Page>;
  readonly #close: () => Promise<void>;
  #isStaying = false;
  #staying: Promise<void> = Promise.resolve();

  static async sitDown(
    browser: Browser,
    address: string,
    options: BrowserContextOptions = {},
  ): Promise<Person> {
    return Person.with(await browser.newContext({ locale: "en-GB", ...options }), address);
  }

  /** A person whose browser was set up before. */
  static async with(context: BrowserContext, address: string): Promise<Person> {
    context.setDefaultTimeout(WAIT_MAX_MS);
    await context.addInitScript(WATCHER);
    return new Person(
      address,
      () => context.newPage(),
      () => context.close(),
    );
  }

  private constructor(address: string, newPage: () => Promise<Page>, close: () => Promise<void>) {
    this.#address = address;
    this.#newPage = newPage;
    this.#close = close;
  }

  async close(): Promise<void> {
    await this.#stopStaying();
    await this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Opens the site in a new tab; the one before is closed first, as people do. */
  async open(path = "/"): Promise<void> {
    await this.page?.close();
    this.page = await this.#newPage();
    this.page.on("console", (message) => this.#hear(message.type(), message.text()));
    this.page.on("pageerror", (error) => this.faults.push(String(error)));
    this.page.on("request", (request) => {
      if (request.isNavigationRequest()) this.loads++;
      const url = request.url();
      if (!url.startsWith(this.#address) && !url.startsWith("data:")) this.faults.push(url);
    });
    await this.page.goto(this.#address + path);
  }

  /** How many people ahead the page has shown, each change once. */
  shownAhead(): number[] {
    const all = this.shown.map(({ ahead }) => ahead);
    return all.filter((ahead, index) => ahead !== all[index - 1]);
  }

  /** Waits until the page shows `expected` in the part with this name. */
  async sees(name: string, expected: string | RegExp): Promise<void> {
    await this.page.locator(`[data-live="${name}"]`).filter({ hasText: expected, visible: true }).waitFor();
  }

  /** Waits until the page says how many are ahead: a number and words, or that this person is next. */
  async seesAhead(count: number): Promise<void> {
    if (count === 0) return this.page.getByText("You are next").filter({ visible: true }).first().waitFor();
    await this.sees("ahead", new RegExp(`^${count}$`));
    await this.sees("aheadLabel", count === 1 ? "person ahead of you" : "people ahead of you");
  }

  /** Waits until the site itself is there. */
  async isInside(heading = "The shop"): Promise<void> {
    await this.page.getByRole("heading", { name: heading, exact: true }).waitFor();
  }

  /** From now on looks at a page now and then, so that the visit does not run out however slow the machine is. */
  stays(): void {
    this.#isStaying = true;
    const look = async () => {
      while (this.#isStaying) {
        await this.page.request.get(this.#address);
        await new Promise((resolve) => setTimeout(resolve, PAGE_EVERY_MS));
      }
    };
    this.#staying = look();
  }

  /** Leaves for good, as a site's own sign-out would. */
  async leaveSite(): Promise<void> {
    await this.#stopStaying();
    const { status } = await this.page.request
      .post(`${this.#address}/.fairgate/main/leave`)
      .then((answer) => answer.json());
    if (status !== "left") throw new Error(`leaving ended in ${status}`);
  }

  async #stopStaying(): Promise<void> {
    this.#isStaying = false;
    await this.#staying;
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await this.page.screenshot({ path: `${SCREENSHOTS}${name}.png`, fullPage: true });
  }

  /** The accessibility problems that axe finds on the page. */
  async violations(): Promise<string[]> {
    await this.page.evaluate(axe.source);
    const found = (await this.page.evaluate(
      `axe.run({ runOnly: ${JSON.stringify(RULES)} })`,
    )) as axe.AxeResults;
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  }

  #hear(type: string, text: string): void {
    if (type === "error") this.faults.push(text);
    const [, ahead, waiting, updated = ""] = /^shown (\d+) (\d+) (.*)$/.exec(text) ?? [];
    if (ahead) this.shown.push({ ahead: Number(ahead), waiting: Number(waiting), updated });
  }
}
