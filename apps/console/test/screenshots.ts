import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Page } from "playwright-core";
import { hideVolatileText } from "./volatile-text.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const STORED = path.join(ROOT, "docs", "images");
const DIFFERENCES = path.join(ROOT, "node_modules", ".cache", "console-screenshots");
const IS_UPDATE = process.env["OAAS_CONSOLE_SCREENSHOTS"] === "1";

/** Share of pixels that may differ, besides smoothed edges: less than a line of text or a small button. */
const MAX_DIFFERENT_SHARE = 0.001;
/** Difference in colour, from 0 to 1, that counts for a pixel. */
const COLOUR_THRESHOLD = 0.1;

interface ImageDifference {
  readonly errorMessage: string;
  readonly diff?: Buffer;
}

interface CompareOptions {
  readonly threshold: number;
  readonly maxDiffPixelRatio: number;
}

type Compare = (actual: Buffer, expected: Buffer, options: CompareOptions) => ImageDifference | null;

/** The comparison of Playwright's own test runner, which is not among the types of playwright-core. */
const comparePng = (
  createRequire(import.meta.url)("playwright-core/lib/coreBundle") as {
    readonly utils: { readonly getComparator: (mimeType: string) => Compare };
  }
).utils.getComparator("image/png");

/** Returns how two PNG images differ by more than the tolerance. */
export function differenceOf(actual: Buffer, expected: Buffer): ImageDifference | null {
  return comparePng(actual, expected, { threshold: COLOUR_THRESHOLD, maxDiffPixelRatio: MAX_DIFFERENT_SHARE });
}

/** CSS selectors of what differs between runs: elements shown with dots as their text, and elements not shown. */
export interface Volatile {
  readonly text?: string;
  readonly absent?: string;
}

/**
 * Compares the page with its image in docs/images; `OAAS_CONSOLE_SCREENSHOTS=1` writes the image instead when it differs.
 * Throws with the path of an image of the differences.
 */
export async function expectScreenshot(page: Page, name: string, volatile: Volatile = {}): Promise<void> {
  const actual = await takeScreenshot(page, volatile);
  const file = path.join(STORED, `console-${name}.png`);
  const expected = existsSync(file) ? readFileSync(file) : undefined;
  const difference = expected && differenceOf(actual, expected);
  if (difference === null) return;
  if (IS_UPDATE) {
    writeFileSync(file, actual);
    return;
  }
  throw new Error(`${describeDifference(name, actual, difference)}\n${UPDATE}`);
}

const UPDATE =
  "If the change is intended, run OAAS_CONSOLE_SCREENSHOTS=1 npx vitest run --project integration apps/console and review the images.";

function describeDifference(name: string, actual: Buffer, difference: ImageDifference | undefined): string {
  mkdirSync(DIFFERENCES, { recursive: true });
  const actualFile = path.join(DIFFERENCES, `${name}.actual.png`);
  const diffFile = path.join(DIFFERENCES, `${name}.diff.png`);
  writeFileSync(actualFile, actual);
  if (difference === undefined) return `docs/images/console-${name}.png is missing; the page is ${actualFile}`;
  rmSync(diffFile, { force: true });
  if (difference.diff !== undefined) writeFileSync(diffFile, difference.diff);
  return `The page differs from docs/images/console-${name}.png: ${difference.errorMessage} See ${diffFile} and ${actualFile}`;
}

/** The visible part of a page, with fixed times, ids and fonts. */
export async function takeScreenshot(page: Page, volatile: Volatile = {}): Promise<Buffer> {
  await fixStyles(page, volatile);
  await hideVolatileText(page);
  await page.mouse.move(0, 0);
  return page.screenshot({ animations: "disabled", caret: "hide" });
}

/** Fonts that Debian installs with Chromium, because fontconfig depends on one. */
const FONT = "DejaVu Sans";
const MONOSPACE = "DejaVu Sans Mono";

/** Uses the same fonts on each machine, and hides what is volatile. The policy of the page forbids inline styles, but not constructed style sheets. */
async function fixStyles(page: Page, { text = ".none", absent = ".none" }: Volatile): Promise<void> {
  await page.evaluate(
    ([font, monospace, dots, none]) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(
        `* { font-family: "${font}" !important; }
         :is(code, pre, kbd, .font-mono, .cm-editor), :is(code, pre, kbd, .font-mono, .cm-editor) * { font-family: "${monospace}" !important; }
         :is(${none}), :is(${dots}) > * { display: none !important; }
         :is(${dots}) { font-size: 0 !important; }
         :is(${dots})::after { content: "…"; font-size: 13px; }`,
      );
      document.adoptedStyleSheets = [sheet];
    },
    [FONT, MONOSPACE, text, absent],
  );
  await page.locator("h1").first().waitFor();
  const used = await fontOfTitle(page);
  if (used !== FONT)
    throw new Error(`Screenshots need the font ${FONT}, and Chromium uses ${used}: apt-get install fonts-dejavu-core`);
}

async function fontOfTitle(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send("DOM.enable");
    await session.send("CSS.enable");
    const { root } = await session.send("DOM.getDocument", { depth: 0 });
    const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector: "h1" });
    const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
    return fonts.map(({ familyName }) => familyName).join(", ");
  } finally {
    await session.detach();
  }
}
