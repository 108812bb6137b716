import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";

/** A page with what went wrong on it: errors in the console, such as violations of the policy, and exceptions. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  readonly problems: readonly string[];
}

interface Options {
  readonly baseURL: string;
  readonly width?: number;
  /** Expected messages, such as those of responses that a test produces. */
  readonly expected?: RegExp;
}

export async function openPage(browser: Browser, { baseURL, width = 1280, expected }: Options): Promise<OpenPage> {
  const context = await browser.newContext({
    baseURL,
    viewport: { width, height: 860 },
    reducedMotion: "reduce",
    colorScheme: "light",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const problems: string[] = [];
  const add = (text: string): void => {
    if (expected?.test(text) !== true) problems.push(text);
  };
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") add(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => add(String(error)));
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

/** Waits until no part of the page loads any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(
    () => document.querySelector('main .skeleton, [role="status"][aria-label="Loading"]') === null,
  );
}

/** Rules whose result depends on the theme. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Violations of accessibility rules, or of those that depend on the theme only, with the elements. */
export async function accessibilityProblems(page: Page, rules: "all" | "colours" = "all"): Promise<readonly string[]> {
  // Legacy mode runs in this page only: Chromium is shared, and another page would need a profile of its own.
  const builder = new AxeBuilder({ page }).setLegacyMode(true);
  const { violations } = await (rules === "all" ? builder : builder.withRules(COLOUR_RULES)).analyze();
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(" ")} ${failureSummary ?? ""}`),
  );
}

export async function setTheme(page: Page, theme: "light" | "dark"): Promise<void> {
  await page.evaluate((value) => void (document.documentElement.dataset["theme"] = value), theme);
}
