import { describeWith, eventually, startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildConsole, startStack, type Served } from "./console-process.ts";
import { accessibilityProblems, openPage, setTheme, settled } from "./open-page.ts";
import { expectFewRequests, recordRequests } from "./page-requests.ts";

const NARROW = 360;
const OBJECTS = "/api/v1/deployments/shop-order/objects/shop.Order/0";
const TAB = "/deployments/shop-order?tab=objects";

describeWith(["chromium"], "the objects of a deployment", () => {
  let stack: Served;
  let chromium: BrowserUnderTest;

  beforeAll(async () => {
    await buildConsole();
    [stack, chromium] = await Promise.all([startStack(), startBrowser()]);
    await eventually(
      async () => (await put("order-1", { total: { json: { sum: 42 } }, note: { text: "paid" } })) === 200,
      {
        timeoutMs: 120_000,
        what: "a state store that can be written",
      },
    );
    for (let index = 2; index <= 120; index += 1) await put(`order-${index}`, {});
  });
  afterAll(async () => {
    await chromium?.close();
    await stack?.[Symbol.asyncDispose]();
  });

  async function put(id: string, entries: object): Promise<number> {
    const response = await fetch(`${stack.url}${OBJECTS}/${id}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ entries }),
    });
    return response.status;
  }

  test("lists objects page by page, filters them, and shows the entries of one", async () => {
    await using opened = await openPage(chromium.browser, { baseURL: stack.url });
    const { page, problems } = opened;
    const recorded = await recordRequests(page, async () => {
      await page.goto(TAB);
      await settled(page);
    });
    // One more than other tabs: the collections, then the objects of one.
    expectFewRequests(recorded, 6);
    const rows = page.getByRole("region", { name: "Objects in the state store" }).locator("tbody tr");
    expect(await rows.count()).toBe(100);
    await page.locator("main").getByRole("button", { name: "More", exact: true }).last().click();
    await eventually(async () => (await rows.count()) === 120, { timeoutMs: 20_000, what: "all objects" });
    await page.getByLabel("Ids that start with").fill("order-12");
    await eventually(async () => (await rows.count()) === 2, { timeoutMs: 20_000, what: "filtered objects" });
    await page.getByLabel("Ids that start with").fill("none");
    await page.getByText("No id starts with this text.").waitFor();
    await page.getByLabel("Ids that start with").fill("order-1");
    await page.getByRole("button", { name: "order-1", exact: true }).click();
    await page.getByText('"sum": 42').waitFor();
    await settled(page);
    expect(await accessibilityProblems(page)).toEqual([]);
    await setTheme(page, "dark");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.setViewportSize({ width: NARROW, height: 800 });
    await page.waitForFunction((width) => document.documentElement.scrollWidth <= width, NARROW);
    expect(problems).toEqual([]);
  });

  test("deletes an object after its id was typed", async () => {
    await using opened = await openPage(chromium.browser, { baseURL: stack.url });
    const { page, problems } = opened;
    await page.goto(`${TAB}&object=0%2Forder-119`);
    await page.getByText("No entries").waitFor();
    await page.getByRole("button", { name: "Delete the object" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("button", { name: "Delete the object" }).isEnabled()).toBe(false);
    await dialog.getByRole("textbox").fill("order-119");
    await dialog.getByRole("button", { name: "Delete the object" }).click();
    await page.getByText("order-119 is deleted").waitFor();
    expect((await fetch(`${stack.url}${OBJECTS}/order-119`)).status).toBe(404);
    expect(problems).toEqual([]);
  });

  test("says that a class has no state", async () => {
    await using opened = await openPage(chromium.browser, { baseURL: stack.url, expected: /400|409|412|422/ });
    await opened.page.goto("/deployments/hello?tab=objects");
    await opened.page.getByText("No state store").waitFor();
  });
});
