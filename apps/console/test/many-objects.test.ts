import { describeWith, eventually, startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildConsole, startPackageManager, type Served } from "./console-process.ts";
import { openPage, settled, type OpenPage } from "./open-page.ts";
import { expectFewRequests, recordRequests } from "./page-requests.ts";

const PACKAGES = 1_000;
const DEPLOYMENTS = 10_000;
/** Units in the only cluster that exists. */
const UNITS = 1_000;
const DEPENDENTS = 300;
/** Rows in the document at once, of 10,000. */
const MAX_ROWS = 80;
const DEPLOYMENT = "/deployments/order-00042";
const PACKAGE = "/packages/shop-00";
const RUNTIME = "/class-runtimes/unit-0042?cluster=mars";

describeWith(["chromium"], `the console with ${PACKAGES} packages and ${DEPLOYMENTS} deployments`, () => {
  let pm: Served;
  let chromium: BrowserUnderTest;
  let opened: OpenPage;

  beforeAll(async () => {
    await buildConsole();
    const seeded = {
      BENCH_PACKAGES: String(PACKAGES),
      BENCH_DEPLOYMENTS: String(DEPLOYMENTS),
      BENCH_CLUSTERS: "mars",
      BENCH_UNITS: String(UNITS),
    };
    [pm, chromium] = await Promise.all([
      startPackageManager({ program: "bench/pm/seeded-main.ts", env: () => seeded }),
      startBrowser(),
    ]);
    await registerDependents(pm.url);
    await eventually(async () => {
      const listed = await fetch(`${pm.url}/api/v1/class-runtimes?limit=1`);
      return listed.headers.get("x-total-count") === String(UNITS);
    });
    opened = await openPage(chromium.browser, { baseURL: pm.url });
  });
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
    await chromium?.close();
    await pm?.[Symbol.asyncDispose]();
  });

  test.each([
    ["overview", "/", "10,000"],
    ["deployments", "/deployments", "order-00000"],
    ["deployment", DEPLOYMENT, "order-00042"],
    ["why", `${DEPLOYMENT}?tab=why`, "east"],
    ["deployment revisions", `${DEPLOYMENT}?tab=revisions`, "Revision"],
    ["deployment events", `${DEPLOYMENT}?tab=events`, "Events since"],
    ["logs", `${DEPLOYMENT}?tab=logs`, /No output yet|cannot read the output/],
    // The clusters of the seeded deployments do not exist.
    ["plan", "/plan?deployment=order-00042", "$."],
    ["new plan", "/plan", "the planner chooses"],
    ["packages", "/packages", "shop-00"],
    ["package", PACKAGE, "Order.create"],
    ["edit", `${PACKAGE}?tab=edit`, "Save as a new revision"],
    ["package revisions", `${PACKAGE}?tab=revisions`, "Revision"],
    ["dependencies", `${PACKAGE}?tab=dependencies`, "The nearest 200 of 301 packages"],
    ["class runtimes", "/class-runtimes", "unit-0000"],
    ["functions", RUNTIME, "Cart.add"],
    ["pods", `${RUNTIME}&tab=pods`, "echo-2"],
    ["requirements", `${RUNTIME}&tab=requirements`, "Nothing is measured"],
    ["enforcement", `${RUNTIME}&tab=enforcement`, "NfrEnforced"],
    ["objects", `${RUNTIME}&tab=children`, "Objects"],
    ["conditions", `${RUNTIME}&tab=conditions`, "NFRViolated"],
    ["class runtime events", `${RUNTIME}&tab=events`, "Events since"],
    ["clusters", "/clusters", "mars"],
    ["cluster", "/clusters/mars", "The 100 components that use the most CPU"],
    ["topology", "/topology", "nodes"],
    ["activity", "/activity", "Activity"],
    ["operations", "/activity?tab=operations", "Activity"],
    ["events", "/activity?tab=events", "Activity"],
  ])("loads %s with at most 5 requests and 100 kB", async (_, target, text) => {
    const { page } = opened;
    // Leaves the page of the test before, so that its last requests are not counted here.
    await page.goto("about:blank");
    const recorded = await recordRequests(page, async () => {
      await page.goto(target);
      await settled(page);
      await page.locator("main").getByText(text).first().waitFor();
    });
    expectFewRequests(recorded);
  });

  test.each([
    ["deployments", "order-09999"],
    ["packages", "user-299"],
    ["class-runtimes", "unit-0999"],
  ])(
    "scrolls to the last of the %s with only visible rows in the document and few pages of the list",
    async (list, last) => {
      const { page, problems } = opened;
      opened.forgetProblems();
      await page.goto(`/${list}`);
      await page.getByRole("table").getByRole("link").first().waitFor();
      const recorded = await recordRequests(page, async () => {
        await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
        await page.getByRole("link", { name: last }).waitFor();
      });
      expectFewRequests(recorded);
      expect(await page.getByRole("row").count()).toBeLessThan(MAX_ROWS);
      expect(problems).toEqual([]);
    },
  );

  test.each([
    ["order-07777", "Deployment", "/deployments/order-07777"],
    ["user-277", "Package", "/packages/user-277"],
  ])("finds %s, one of thousands, in the command palette", async (name, kind, path) => {
    const { page } = opened;
    await page.goto("/");
    await settled(page);
    const recorded = await recordRequests(page, async () => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill(name);
      await page.getByRole("option", { name: new RegExp(`${name} ${kind}`) }).waitFor();
    });
    // A search for each pause in the typing, in each list.
    expectFewRequests(recorded, 10);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${path}`);
  });
});

/** Packages that need the first one. */
async function registerDependents(url: string): Promise<void> {
  const register = async (n: number): Promise<void> => {
    const body = { name: `user-${String(n).padStart(3, "0")}`, dependencies: ["shop-00"] };
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/api/v1/packages`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status, await response.text()).toBe(201);
  };
  await Promise.all(Array.from({ length: DEPENDENTS }, (_, n) => register(n)));
}
