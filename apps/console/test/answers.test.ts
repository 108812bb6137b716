import { describeWith, startBrowser, startTcpProxy, type BrowserUnderTest } from "@oaas/testkit";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildConsole, startPackageManager, type Served } from "./console-process.ts";
import { openPage } from "./open-page.ts";

const PACKAGE = "name: shop\nclasses: [{key: Order}]\nfunctions: []\n";

const problemDocument = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: { "content-type": "application/problem+json", "x-correlation-id": "c-1", ...headers },
  body: JSON.stringify({
    type: "about:blank",
    title: "x",
    status,
    detail: "only for admins",
    error: "only for admins",
    code: "X",
    kind: status === 409 ? "conflict" : "x",
    retryable: false,
    correlationId: "c-1",
  }),
});

/** What a person reads for each kind of answer. */
const ANSWERS = [
  { status: 403, headers: {}, title: "Not allowed", text: "only for admins" },
  { status: 409, headers: {}, title: "Changed meanwhile", text: "only for admins" },
  { status: 429, headers: { "retry-after": "7" }, title: "Too many requests", text: "Wait 7 seconds" },
  { status: 500, headers: {}, title: "The package manager failed", text: "only for admins" },
  { status: 503, headers: {}, title: "Temporarily unavailable", text: "only for admins" },
];

describeWith(["chromium"], "answers of the package manager", () => {
  let pm: Served;
  let chromium: BrowserUnderTest;

  beforeAll(async () => {
    await buildConsole();
    [pm, chromium] = await Promise.all([startPackageManager(), startBrowser()]);
    const created = await fetch(`${pm.url}/api/v1/packages`, {
      method: "POST",
      headers: { "content-type": "application/yaml" },
      body: PACKAGE,
    });
    expect(created.status).toBe(201);
  });
  afterAll(async () => {
    await chromium?.close();
    await pm?.[Symbol.asyncDispose]();
  });

  const open = (expected: RegExp) => openPage(chromium.browser, { baseURL: pm.url, expected });
  const showsList = (page: Page) => page.getByRole("link", { name: "shop", exact: true }).waitFor();

  test.each(ANSWERS)("explains $status to a read and recovers from it", async ({ status, headers, title, text }) => {
    await using opened = await open(/status of [45]\d\d/);
    const { page, problems } = opened;
    const fail = (route: Route) => route.fulfill(problemDocument(status, headers));
    await page.route("**/api/v1/package-summaries?**", fail);
    await page.goto("/packages");
    const alert = page.getByRole("alert");
    await alert.getByText(title).waitFor();
    expect(await alert.innerText()).toContain(text);
    expect(await alert.innerText()).toContain("c-1");
    await page.unroute("**/api/v1/package-summaries?**", fail);
    await page.getByRole("button", { name: "Try again" }).click();
    await showsList(page);
    expect(problems).toEqual([]);
  });

  test("explains each answer to a write, keeps the text, and saves it at the next try", async () => {
    await using opened = await open(/status of [45]\d\d|net::ERR_FAILED|Applying inline style .*new-package/);
    const { page, problems } = opened;
    let answer: ((route: Route) => Promise<void>) | undefined;
    await page.route(
      (url) => url.pathname === "/api/v1/packages" && url.searchParams.get("dry_run") === null,
      (route) => (answer !== undefined && route.request().method() === "POST" ? answer(route) : route.continue()),
    );
    await page.goto("/new-package");
    const editor = page.locator("[data-editor='Package as YAML'] .cm-content");
    await editor.click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText("name: kept\nclasses: [{key: Order}]\nfunctions: []\n");
    await page.getByText("Valid", { exact: true }).waitFor();
    const save = page.getByRole("button", { name: "New package" });
    for (const { status, headers, title, text } of ANSWERS) {
      answer = (route) => route.fulfill(problemDocument(status, headers));
      await save.click();
      const alert = page.getByRole("alert").filter({ hasText: title });
      await alert.waitFor();
      expect(await alert.innerText()).toContain(text);
    }
    answer = (route) => route.abort();
    await save.click();
    await page.getByRole("alert").filter({ hasText: "does not respond" }).waitFor();
    answer = (route) => route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" });
    await save.click();
    await page.getByRole("alert").filter({ hasText: "The package manager failed" }).waitFor();
    expect(await editor.innerText()).toContain("name: kept");
    answer = undefined;
    await save.click();
    await page.waitForURL("**/packages/kept");
    expect(problems).toEqual([]);
  });

  test("says that an object does not exist, and that a page does not", async () => {
    await using opened = await open(/status of 404/);
    const { page } = opened;
    await page.goto("/deployments/missing");
    await page.getByText("Not found").first().waitFor();
    await page.goto("/no-such-page");
    await page.getByText("Page not found").waitFor();
  });

  test("are not kept from a page by the event streams of the pages before it", async () => {
    await using opened = await open(/never/);
    const { page } = opened;
    // Without that, the streams of pages kept for the back button take the six connections that a browser opens to a host.
    for (let visit = 0; visit < 8; visit += 1) {
      await page.goto(`/packages?filter=${visit % 2 === 0 ? "shop" : "sho"}`);
      await showsList(page);
    }
    // Without a load event: the page is as it was left.
    await page.goBack({ waitUntil: "commit" });
    await showsList(page);
  });

  test("shows a lost connection, keeps the page, and recovers by itself", async () => {
    const proxy = await startTcpProxy(Number(new URL(pm.url).port));
    try {
      await using opened = await openPage(chromium.browser, {
        baseURL: `http://127.0.0.1:${proxy.port}`,
        expected: /ERR_|Failed to load/,
      });
      const { page } = opened;
      await page.goto("/packages");
      await showsList(page);
      proxy.set("reset");
      await page.getByText("The connection to the package manager is lost").waitFor();
      await showsList(page);
      proxy.set("pass");
      await page.getByText("The connection to the package manager is lost").waitFor({ state: "detached" });
    } finally {
      await proxy.close();
    }
  });
});
