/** A visit to a page of the stand-in gateway in a real browser, and what the tests read there. */
import { mkdirSync } from "node:fs";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { PageLook } from "../../gateway/page/render.ts";
import { openBrowser as launch, SCREENSHOTS, WAIT_MAX_MS } from "../browser.ts";
import { FakeGateway } from "./fake-gateway.ts";

export const SHOTS = process.env.FAIRGATE_SHOTS ?? SCREENSHOTS;
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

let browser: Browser | undefined;

export async function openPageBrowser(): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
}

export interface PageVisit {
  readonly gateway: FakeGateway;
  readonly page: Page;
  readonly address: string;
  /** Console errors, and requests to other hosts. */
  readonly faults: string[];
}

export interface VisitPlan {
  readonly browser?: BrowserContextOptions;
  readonly look?: Partial<PageLook>;
  readonly prepare?: (gateway: FakeGateway, page: Page) => void | Promise<void>;
}

/** Opens the page in a browser of its own, hands it to the test, and closes everything. */
export async function visit(plan: VisitPlan, work: (visit: PageVisit) => Promise<void>): Promise<void> {
  const gateway = new FakeGateway(plan.look);
  const address = await gateway.listen();
  const context = await browser!.newContext({ locale: "en-GB", ...plan.browser });
  context.setDefaultTimeout(WAIT_MAX_MS);
  try {
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(address) && !request.url().startsWith("data:"))
        faults.push(request.url());
    });
    await plan.prepare?.(gateway, page);
    await page.goto(address);
    await work({ gateway, page, address, faults });
  } finally {
    await context.close();
    await gateway.close();
  }
}

export function shownText(page: Page, name: string): Promise<string | null> {
  return page.locator(`[data-live="${name}"]`).textContent();
}

export function isVisible(page: Page, name: string): Promise<boolean> {
  return page.locator(`[data-live="${name}"]`).isVisible();
}

/** Waits until the page shows `expected`; the test's own time limit ends a wait in vain. */
export async function shows(page: Page, name: string, expected: string | RegExp): Promise<void> {
  await page.locator(`[data-live="${name}"]`).filter({ hasText: expected, visible: true }).waitFor();
}

export async function isTooWide(page: Page): Promise<boolean> {
  return (await page.evaluate("document.documentElement.scrollWidth > innerWidth")) as boolean;
}

/** The accessibility problems that axe finds on the page. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const results = (await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(RULES)} })`)) as axe.AxeResults;
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
