import { describeWith, eventually, startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildConsole, startStack, type Served } from "./console-process.ts";
import { accessibilityProblems, openPage, setTheme, settled } from "./open-page.ts";
import { expectFewRequests, recordRequests } from "./page-requests.ts";

const NARROW = 360;

interface Signals {
  readonly series: readonly { readonly signal: string; readonly values: readonly (number | null)[] }[];
}

/** The rates of requests that were measured. */
function requestsIn({ series }: Signals): readonly number[] {
  return series.flatMap(({ signal, values }) =>
    signal === "requests_per_second" ? values.filter((value) => value !== null) : [],
  );
}

describeWith(["chromium"], "the page of a class runtime", () => {
  let stack: Served;
  let chromium: BrowserUnderTest;
  /** The class runtime of the example whose load is simulated. */
  let path = "";

  beforeAll(async () => {
    await buildConsole();
    [stack, chromium] = await Promise.all([startStack(), startBrowser()]);
    const [runtime] = await api<readonly { id: string; cluster_name: string }[]>(
      "/api/v1/class-runtimes?package_name=tickets",
    );
    path = `/class-runtimes/${runtime?.id}?cluster=${runtime?.cluster_name}`;
    const history = `/api/v1/class-runtimes/${runtime?.id}/signals?range_seconds=900&step_seconds=10`;
    await eventually(async () => requestsIn(await api<Signals>(history)).length >= 3, {
      timeoutMs: 150_000,
      what: "a history of the load",
    });
  });
  afterAll(async () => {
    await chromium?.close();
    await stack?.[Symbol.asyncDispose]();
  });

  async function api<T>(target: string): Promise<T> {
    const response = await fetch(stack.url + target);
    if (!response.ok) throw new Error(`${target}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  const open = (expected?: RegExp) =>
    openPage(chromium.browser, { baseURL: stack.url, ...(expected === undefined ? {} : { expected }) });

  test.each([
    ["pods", "tab=pods", "Logs"],
    ["signals and requirements", "tab=requirements", "Error budget left"],
    ["the YAML of an object", "tab=children", "stands for secrets"],
    ["conditions", "tab=conditions", "What happened"],
  ])("shows %s: accessible in both themes, within 360 pixels, without errors", async (_name, query, text) => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.goto(`${path}&${query}`);
    await settled(page);
    if (query === "tab=children") await page.getByRole("button", { name: /YAML of Deployment/ }).click();
    await page.locator("main").getByText(text).first().waitFor();
    await settled(page);
    expect(await accessibilityProblems(page)).toEqual([]);
    await setTheme(page, "dark");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.setViewportSize({ width: NARROW, height: 800 });
    await page.waitForFunction((width) => document.documentElement.scrollWidth <= width, NARROW);
    expect(problems).toEqual([]);
  });

  test("loads each tab with at most 5 requests and 100 kB", async () => {
    await using opened = await open();
    const { page } = opened;
    for (const [tab, text] of [
      ["functions", "Sale.buy"],
      ["pods", "Logs"],
      ["requirements&range=24h", "Error budget left"],
      ["enforcement", "NfrEnforced"],
      ["children", "Deployment"],
      ["conditions", "What happened"],
      ["events", "Events since"],
    ] as const) {
      await page.goto("about:blank");
      const recorded = await recordRequests(page, async () => {
        await page.goto(`${path}&tab=${tab}`);
        await settled(page);
        await page.locator("main").getByText(text).first().waitFor();
      });
      expectFewRequests(recorded);
    }
  });

  test("starts its charts with the history from before the page was open, and continues", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    const isRead = (url: string): boolean => url.includes("/signals?");
    const first = page.waitForResponse((response) => isRead(response.url()));
    await page.goto(`${path}&tab=requirements&range=15m`);
    expect(requestsIn((await (await first).json()) as Signals).length).toBeGreaterThan(1);
    const chart = page.getByRole("img", { name: /requests: [\d.,]+ req\/s/ }).first();
    await chart.locator("canvas").waitFor();
    expect(await page.getByText("ready replicas").count()).toBeGreaterThan(0);
    expect(await page.getByText(/^Requested: /).count()).toBeGreaterThan(0);
    await page.waitForResponse((response) => isRead(response.url()));
    const other = page.waitForResponse((response) => response.url().includes("range_seconds=86400"));
    await page.getByLabel("Range").selectOption("24h");
    expect((await other).status()).toBe(200);
    expect(page.url()).toContain("range=24h");
    await page.getByLabel("Range").selectOption({ label: "Last hour" });
    await page.waitForURL((url) => !url.searchParams.has("range"));
    expect(problems).toEqual([]);
  });

  test("says why the history is missing, and draws from the moment that the page is open", async () => {
    await using opened = await open(/status of 503/);
    const { page, problems } = opened;
    const body = JSON.stringify({ detail: "cannot read the signal memory_bytes: it is down", kind: "unavailable" });
    await page.route("**/signals?**", (route) =>
      route.fulfill({ status: 503, contentType: "application/problem+json", body }),
    );
    await page.goto(`${path}&tab=requirements`);
    await page.getByText("The history of signals cannot be read").waitFor();
    await page.getByText("it is down").first().waitFor();
    await page
      .getByRole("img", { name: /throughput|latency|availability|error/i })
      .first()
      .waitFor();
    await page.getByText("Error budget left").waitFor();
    expect(problems).toEqual([]);
  });

  test("shows the YAML of an object beside its command, and the address restores it", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.goto(`${path}&tab=children`);
    await page
      .getByRole("button", { name: /YAML of Deployment/ })
      .first()
      .click();
    const editor = page.locator("[data-editor^='Deployment '] .cm-content");
    await editor.waitFor();
    const yaml = await editor.innerText();
    expect(yaml).toContain("apiVersion: apps/v1");
    expect(yaml).not.toContain("managedFields");
    expect(await editor.getAttribute("contenteditable")).toBe("false");
    expect(await page.getByText(/kubectl -n \S+ get deployment \S+ -o yaml/).count()).toBeGreaterThan(0);
    expect(new URL(page.url()).searchParams.get("object")).toMatch(/^Deployment \S+ apps\/v1$/);
    await page.reload();
    await editor.waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.waitForURL((url) => !url.searchParams.has("object"));
    expect(await editor.count()).toBe(0);
    await page.goto(`${path}&tab=children&object=Secret+x`);
    await settled(page);
    expect(await page.locator("[data-editor]").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("says that an object no longer exists", async () => {
    await using opened = await open(/status of 404/);
    const { page, problems } = opened;
    const body = JSON.stringify({ detail: 'Deployment "x" does not belong to the class runtime', kind: "not-found" });
    await page.route("**/objects/**", (route) =>
      route.fulfill({ status: 404, contentType: "application/problem+json", body }),
    );
    await page.goto(`${path}&tab=children`);
    await page
      .getByRole("button", { name: /YAML of Deployment/ })
      .first()
      .click();
    await page.getByText("does not belong to the class runtime").waitFor();
    expect(problems).toEqual([]);
  });

  test("leads from a pod to the output of its function", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.goto(`${path}&tab=pods`);
    const row = page
      .getByRole("row")
      .filter({ has: page.getByRole("link", { name: "Logs" }) })
      .first();
    await row.getByText("Ready").waitFor();
    expect(await row.innerText()).toContain("Running");
    await row.getByRole("link", { name: "Logs" }).click();
    await page.waitForURL((url) => url.pathname === "/deployments/tickets" && url.searchParams.get("tab") === "logs");
    await page.getByRole("log").getByText("simulated container started").first().waitFor();
    expect(problems).toEqual([]);
  });

  test("shows the conditions with what happened to them, newest first", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.goto(`${path}&tab=conditions`);
    const conditions = page.getByRole("region", { name: "Conditions" });
    await conditions.getByRole("row", { name: /^Available Yes/ }).waitFor();
    const events = page.getByRole("region", { name: "What happened" });
    await events.getByText("TemplateSelected").first().waitFor();
    const times = await events.locator("time").evaluateAll((all) => all.map((each) => each.getAttribute("datetime")));
    expect(times).toEqual([...times].toSorted((a, b) => Date.parse(b ?? "") - Date.parse(a ?? "")));
    expect(problems).toEqual([]);
  });
});
