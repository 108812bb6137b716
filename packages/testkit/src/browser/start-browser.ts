import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  componentFile,
  makeRunFolder,
  startFailure,
  startProcess,
  untilReady,
  type RunningProcess,
} from "@oaas/real-components";
import type { Browser, BrowserContext } from "playwright-core";

/** A real Chromium. Start it once per file and open a new context per test. */
export interface BrowserUnderTest extends AsyncDisposable {
  readonly browser: Browser;
  /** Opens a new profile without cookies, storage and cache. */
  newContext(): Promise<BrowserContext>;
  close(): Promise<void>;
}

const QUIT_MS = 3_000;
const ARGS = [
  "--headless=new",
  "--remote-debugging-port=0",
  "--no-first-run",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--disable-breakpad",
  "--disable-crash-reporter",
  "--disable-background-networking",
  "--disable-component-update",
  "--password-store=basic",
  // Pages look the same on every machine.
  "--font-render-hinting=none",
  "--force-color-profile=srgb",
  "--disable-lcd-text",
];

/**
 * Starts the machine's Chromium through the warden and connects Playwright to it. Playwright's own launch would leave
 * the profile behind when the test process is killed.
 */
export async function startBrowser(): Promise<BrowserUnderTest> {
  const folder = await makeRunFolder("browser");
  const profile = join(folder.path, "profile");
  let chromium: RunningProcess | undefined;
  try {
    chromium = await startProcess({
      command: componentFile("chromium"),
      args: [...ARGS, ...(isRoot() ? ["--no-sandbox"] : []), `--user-data-dir=${profile}`, "about:blank"],
      cwd: folder.path,
      env: { LANG: "C.UTF-8", TMPDIR: folder.path },
      logFile: join(folder.path, "chromium.log"),
    });
    const endpoint = await debuggingEndpoint(chromium, profile);
    const playwright = await import("playwright-core");
    const browser = await playwright.chromium.connectOverCDP(endpoint);
    const running = chromium;
    const close = async (): Promise<void> => {
      await running.stop(QUIT_MS, () => quit(browser));
      await folder.remove();
    };
    return { browser, newContext: () => browser.newContext(), close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await chromium?.stop(0);
    throw await startFailure("Chromium", folder, error);
  }
}

/** Reads the port that Chromium chose and wrote to its profile. */
async function debuggingEndpoint(chromium: RunningProcess, profile: string): Promise<string> {
  let port = "";
  await untilReady(chromium, async () => {
    [port = ""] = (await readFile(join(profile, "DevToolsActivePort"), "utf8")).split("\n");
    return port !== "";
  });
  return `http://127.0.0.1:${port}`;
}

/** Closes Chromium through its own protocol, so that it ends its child processes; closing the connection would not. */
async function quit(browser: Browser): Promise<void> {
  const session = await browser.newBrowserCDPSession();
  await session.send("Browser.close");
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
