/** Browsers with unusual settings; and waiting for the words of a page, however it shows them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { WHOLE_CHROMIUM } from "../../scripts/chromium.ts";
import { originProgram } from "../../scripts/origins.ts";
import { ARGUMENTS, WAIT_MAX_MS } from "../../src/testing/browser.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder } from "../../src/testing/cli/fairgate.ts";

/** What the browser writes into its profile when "block all cookies" is chosen. */
const BLOCK_COOKIES = { profile: { default_content_setting_values: { cookies: 2 } } };

export interface OwnBrowser extends AsyncDisposable {
  readonly context: BrowserContext;
}

/** A browser that accepts no cookies. */
export async function openCookielessBrowser(options: BrowserContextOptions = {}): Promise<OwnBrowser> {
  await using parts = new AsyncDisposableStack();
  const { path: folder } = parts.use(ownFolder());
  mkdirSync(join(folder, "Default"));
  writeFileSync(join(folder, "Default", "Preferences"), JSON.stringify(BLOCK_COOKIES));
  const executablePath = originProgram(WHOLE_CHROMIUM);
  const launch = { executablePath, args: ARGUMENTS, timeout: WAIT_MAX_MS, locale: "en-GB" };
  const context = await chromium.launchPersistentContext(folder, { ...launch, ...options });
  parts.defer(() => context.close());
  const whole = parts.move();
  return { context, [Symbol.asyncDispose]: () => whole.disposeAsync() };
}

/** Waits until the page says these words to a reader and to a screen reader, by text or by a style. */
export async function says(page: Page, words: RegExp): Promise<void> {
  const body = page.locator("body");
  await eventually(`the page says ${words}`, async () => words.test(await body.ariaSnapshot()));
}
