import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type Axe from "axe-core";
import type { Browser, Page } from "playwright-core";

/** A page with what went wrong on it: errors in the console, such as violations of the policy, and exceptions. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  readonly problems: readonly string[];
  /** Starts with another test on the same page. */
  forgetProblems(): void;
}

interface Options {
  readonly baseURL: string;
  /** Expected messages, such as those of responses that a test produces. */
  readonly expected?: RegExp;
}

/** The window of the images in the documentation. */
export const DESKTOP = { width: 1280, height: 860 };

export async function openPage(browser: Browser, { baseURL, expected }: Options): Promise<OpenPage> {
  const context = await browser.newContext({
    baseURL,
    viewport: DESKTOP,
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
  return {
    page,
    problems,
    forgetProblems: () => void (problems.length = 0),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** Waits until no part of the page loads any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(
    () => document.querySelector('main .skeleton, [role="status"][aria-label="Loading"]') === null,
  );
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Violations of all accessibility rules, with the elements. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // @axe-core/playwright does the same, but moves the results of passed rules through the connection: six times as slow.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { readonly axe: typeof Axe };
    const { violations } = await axe.run(document, { resultTypes: ["violations"], preload: false });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(" ")} ${failureSummary ?? ""}`),
    );
  });
}

export async function setTheme(page: Page, theme: "light" | "dark"): Promise<void> {
  await page.evaluate((value) => void (document.documentElement.dataset["theme"] = value), theme);
}

/** What is wrong with a page on paper: dark background, space for the hidden navigation, or content that needs scrolling. */
export async function printProblems(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const problems: string[] = [];
    const background = getComputedStyle(document.body).backgroundColor;
    if (background !== "rgb(255, 255, 255)") problems.push(`the background is ${background}`);
    const main = document.querySelector("main")?.getBoundingClientRect();
    if (main === undefined || main.left > 32 || main.right < document.documentElement.clientWidth - 32)
      problems.push(`the content is from ${main?.left} to ${main?.right}`);
    for (const element of document.querySelectorAll("main *")) {
      const { overflowX, overflowY } = getComputedStyle(element);
      const isHidden =
        (/auto|scroll/.test(overflowY) && element.scrollHeight > element.clientHeight + 1) ||
        (/auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth + 1);
      if (isHidden) problems.push(`scrolls: ${element.tagName} ${element.className}`);
    }
    return problems;
  });
}
