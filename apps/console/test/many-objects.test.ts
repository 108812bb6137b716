import { describeWith, startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildConsole, startPackageManager, type Served } from "./console-process.ts";
import { openPage, settled, type OpenPage } from "./open-page.ts";

const PACKAGES = 1_000;
const DEPLOYMENTS = 10_000;
const MAX_REQUESTS = 5;
const MAX_BYTES = 100_000;
/** Rows in the document at once, of 10,000. */
const MAX_ROWS = 80;

describeWith(["chromium"], `the console with ${PACKAGES} packages and ${DEPLOYMENTS} deployments`, () => {
  let pm: Served;
  let chromium: BrowserUnderTest;
  let opened: OpenPage;

  beforeAll(async () => {
    await buildConsole();
    const seeded = { BENCH_PACKAGES: String(PACKAGES), BENCH_DEPLOYMENTS: String(DEPLOYMENTS) };
    [pm, chromium] = await Promise.all([
      startPackageManager({ program: "bench/pm/seeded-main.ts", env: () => seeded }),
      startBrowser(),
    ]);
    opened = await openPage(chromium.browser, { baseURL: pm.url });
  });
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
    await chromium?.close();
    await pm?.[Symbol.asyncDispose]();
  });

  /**
   * What a page asks the API for, until `act` is done. The event stream is one of the requests. The browser itself
   * counts the bytes: a body can no longer be read over the protocol once the page has given up its request.
   */
  async function askedFor(page: Page, act: () => Promise<void>): Promise<{ requests: string[]; bytes: number }> {
    const requests = new Set<string>();
    const add = (request: Request): void => {
      if (new URL(request.url()).pathname.startsWith("/api/")) requests.add(request.url());
    };
    await page.evaluate(() => performance.clearResourceTimings());
    page.on("request", add);
    await act();
    page.off("request", add);
    const ended = [...requests].filter((url) => new URL(url).pathname !== "/api/v1/events");
    const sizes = await page.waitForFunction((urls) => {
      const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
      const bytes = new Map(entries.map(({ name, decodedBodySize }) => [name, decodedBodySize]));
      return urls.every((url) => bytes.has(url)) && urls.map((url) => bytes.get(url) ?? 0);
    }, ended);
    const bytes = ((await sizes.jsonValue()) as number[]).reduce((sum, size) => sum + size, 0);
    return { requests: [...requests], bytes };
  }

  test.each([
    ["overview", "/", "10,000"],
    ["deployments", "/deployments", "order-00000"],
    ["deployment", "/deployments/order-00042", "order-00042"],
    // The clusters of the seeded deployments do not exist.
    ["plan", "/plan?deployment=order-00042", "$."],
    ["new plan", "/plan", "the planner chooses"],
    ["packages", "/packages", "shop-00"],
    ["package", "/packages/shop-00", "Order.create"],
    ["revisions", "/packages/shop-00?tab=revisions", "Revision"],
    ["class runtimes", "/class-runtimes", "Class runtimes"],
    ["clusters", "/clusters", "Clusters"],
    ["topology", "/topology", "nodes"],
    ["activity", "/activity", "Activity"],
    ["operations", "/activity?tab=operations", "Activity"],
  ])("loads %s with at most 5 requests and 100 kB", async (_, target, text) => {
    const { page } = opened;
    // Leaves the page of the test before, so that its last requests are not counted here.
    await page.goto("about:blank");
    const { requests, bytes } = await askedFor(page, async () => {
      await page.goto(target);
      await settled(page);
      await page.locator("main").getByText(text).first().waitFor();
    });
    expect(requests.length, requests.join(" ")).toBeLessThanOrEqual(MAX_REQUESTS);
    expect(bytes, requests.join(" ")).toBeLessThan(MAX_BYTES);
  });

  test("scrolls to the last deployment with only visible rows in the document and few pages of the list", async () => {
    const { page, problems } = opened;
    opened.forgetProblems();
    await page.goto("/deployments");
    await page.getByRole("link", { name: "order-00000" }).waitFor();
    const { requests, bytes } = await askedFor(page, async () => {
      await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
      await page.getByRole("link", { name: "order-09999" }).waitFor();
    });
    expect(requests.length, requests.join(" ")).toBeLessThanOrEqual(MAX_REQUESTS);
    expect(bytes).toBeLessThan(MAX_BYTES);
    expect(await page.getByRole("row").count()).toBeLessThan(MAX_ROWS);
    expect(problems).toEqual([]);
  });

  test("finds one deployment of 10,000 in the command palette", async () => {
    const { page } = opened;
    await page.goto("/");
    await settled(page);
    const { requests, bytes } = await askedFor(page, async () => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("order-07777");
      await page.getByRole("option", { name: /order-07777 Deployment/ }).waitFor();
    });
    // A search for each pause in the typing, in each list.
    expect(requests.length, requests.join(" ")).toBeLessThanOrEqual(2 * MAX_REQUESTS);
    expect(bytes).toBeLessThan(MAX_BYTES);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/deployments/order-07777");
  });
});
