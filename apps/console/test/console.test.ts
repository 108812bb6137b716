import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describeWith, eventually, startBrowser, startTcpProxy, type BrowserUnderTest } from "@oaas/testkit";
import type { Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildConsole, startStack, startWithToken, type Served } from "./console-process.ts";
import { accessibilityProblems, openPage, setTheme, settled } from "./open-page.ts";

const DIST = path.resolve(import.meta.dirname, "..", "dist");
const IMAGES = path.resolve(import.meta.dirname, "..", "..", "..", "docs", "images");
const WITH_SCREENSHOTS = process.env["OAAS_CONSOLE_SCREENSHOTS"] === "1";
/** The images in the documentation. */
const SCREENSHOTS = new Set(["overview", "plan", "deployment", "package-edit", "cluster-lost"]);
const FIRST_LOAD_BUDGET = 200_000;
const NARROW = 360;

describeWith(["chromium"], "the console", () => {
  let stack: Served;
  let chromium: BrowserUnderTest;

  beforeAll(async () => {
    await buildConsole();
    [stack, chromium] = await Promise.all([startStack(), startBrowser()]);
  });
  afterAll(async () => {
    await chromium?.close();
    await stack?.[Symbol.asyncDispose]();
  });

  const open = (expected?: RegExp) =>
    openPage(chromium.browser, { baseURL: stack.url, ...(expected === undefined ? {} : { expected }) });

  async function api<T>(
    method: string,
    target: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await fetch(stack.url + target, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  const unitOf = async (deployment: string): Promise<string> => {
    const mappings = await api<Record<string, unknown>>("GET", `/api/v1/deployments/${deployment}/cluster-mappings`);
    return JSON.stringify(mappings).match(new RegExp(`${deployment}-[a-z-]+-[0-9a-f]{12}`))?.[0] ?? "";
  };

  /** Every page and tab, with the text that shows that its data is there. */
  const pages: readonly (readonly [name: string, path: string | (() => Promise<string>), text: string])[] = [
    ["overview", "/", "Recent changes"],
    ["deployments", "/deployments", "ledger.Account"],
    ["deployment", "/deployments/ledger", "ledger-far-edge-"],
    ["why", "/deployments/ledger?tab=why", "ledger is healthy"],
    ["revisions", "/deployments/ledger?tab=revisions", "example of the local stack"],
    ["events", "/deployments/ledger?tab=events", "Events since"],
    ["logs", "/deployments/ledger?tab=logs", "simulated container started"],
    ["plan", "/plan?deployment=ledger", "Why this number of replicas"],
    ["plan-yaml", "/plan?deployment=ledger&view=yaml&down=edge", "This plan uses assumptions"],
    ["packages", "/packages", "tickets"],
    ["package", "/packages/shop", "Deployed as"],
    ["package-edit", "/packages/shop?tab=edit", "Save as a new revision"],
    ["package-revisions", "/packages/shop?tab=revisions", "example of the local stack"],
    ["package-dependencies", "/packages/shop?tab=dependencies", "needs no other package"],
    ["class-runtimes", "/class-runtimes", "ledger.Account"],
    ["class-runtime", async () => `/class-runtimes/${await unitOf("tickets")}`, "Sale.buy"],
    ["requirements", async () => `/class-runtimes/${await unitOf("tickets")}?tab=requirements`, "Error budget left"],
    ["enforcement", async () => `/class-runtimes/${await unitOf("tickets")}?tab=enforcement`, "NfrEnforced"],
    ["objects", async () => `/class-runtimes/${await unitOf("tickets")}?tab=children`, "Deployment"],
    ["clusters", "/clusters", "far-edge"],
    ["cluster", "/clusters/edge", "Used in plans"],
    ["topology", "/topology", "18 nodes"],
    ["activity", "/activity", "createDeployment"],
    ["operations", "/activity?tab=operations", "Deploy"],
    ["lab", "/lab", "Break a cluster"],
    ["new-package", "/new-package", "my-package"],
  ];

  test.each(pages)(
    "shows %s: accessible in both themes, within 360 pixels, without errors",
    async (name, target, text) => {
      await using opened = await open();
      const { page, problems } = opened;
      await page.goto(typeof target === "string" ? target : await target());
      await settled(page);
      await page.locator("main").getByText(text).first().waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      await screenshot(page, name);
      await setTheme(page, "dark");
      expect(await accessibilityProblems(page)).toEqual([]);
      await page.setViewportSize({ width: NARROW, height: 800 });
      await page.waitForFunction((width) => document.documentElement.scrollWidth <= width, NARROW);
      expect(problems).toEqual([]);
    },
  );

  async function screenshot(page: Page, name: string): Promise<void> {
    if (!WITH_SCREENSHOTS || !SCREENSHOTS.has(name)) return;
    mkdirSync(IMAGES, { recursive: true });
    await page.screenshot({ path: path.join(IMAGES, `console-${name}.png`) });
  }

  test("goes from a package with mistakes to a deployment, a roll-back, a pause and a deletion", async () => {
    // Chromium's own editing sets a style when typed text replaces several lines. The policy blocks it, to no effect: the editor
    // reads only the text.
    await using opened = await open(/status of 4\d\d|Applying inline style .*new-package/);
    const { page, problems } = opened;
    await page.goto("/new-package");
    const editor = page.locator("[data-editor='Package as YAML'] .cm-content");
    await replaceText(
      page,
      editor,
      "name: journey\nclasses:\n  - key: Walk\n    function_bindings:\n      - {name: step, function_key: nope}\nfunctions: []\n",
    );
    await page.getByText("$.classes[0].function_bindings[0].function_key").waitFor();
    expect(await page.locator("[data-editor='Package as YAML'] .cm-lint-marker-error").count()).toBeGreaterThan(0);
    expect(await page.getByRole("button", { name: "New package" }).isDisabled()).toBe(true);
    await replaceText(
      page,
      editor,
      "name: journey\nclasses:\n  - key: Walk\n    function_bindings:\n      - {name: step, function_key: Walk.step}\nfunctions:\n  - key: Walk.step\n    provision_config: {container_image: 'example.test/walk:1.0.0'}\n",
    );
    await page.getByText("Valid", { exact: true }).waitFor();
    await page.getByRole("button", { name: "New package" }).click();

    await page.getByRole("link", { name: "Plan a deployment" }).click();
    await page.getByLabel("Availability (%)").fill("99.5");
    await page.getByText("Meets 99.5 %").first().waitFor();
    await page.getByRole("checkbox", { name: "cloud" }).last().check();
    await page.getByText("This plan uses assumptions").first().waitFor();
    expect(await page.getByRole("button", { name: "Apply this plan" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Reset" }).click();
    await page.getByRole("button", { name: "Apply this plan" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Apply this plan" }).click();
    await page.waitForURL("**/deployments/journey");
    await page.locator("header").getByText("Running").waitFor();

    await api("PUT", "/api/v1/deployments/journey", {
      key: "journey",
      package_name: "journey",
      class_key: "Walk",
      target_clusters: ["edge"],
      nfr_requirements: { availability: 0.9 },
    });
    // The version of the deployment changes until its roll-out has an outcome, and an action sends the version that is shown.
    await eventually(async () => {
      const { operation } = await api<{ operation: { outcome?: string } }>("GET", "/api/v1/deployments/journey/status");
      return operation.outcome === "Running";
    });
    await page.goto("/deployments/journey?tab=revisions");
    await page.getByText("2 (current)").waitFor();
    await page.getByRole("button", { name: "Roll back" }).click();
    await page.getByLabel("Reason (kept in the history)").fill("back to two nines");
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page.getByText("back to two nines").waitFor();

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText("Paused by").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Paused by").waitFor({ state: "detached" });

    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete" });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel("Type the name to confirm").fill("journey");
    await confirm.click();
    await page.waitForURL("**/deployments");
    await page.getByRole("table").getByText("journey").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("shows what someone else saved, and keeps both changes", async () => {
    await using opened = await open(/status of 4(09|12)/);
    const { page, problems } = opened;
    const current = await api<{ description?: string } & Record<string, unknown>>("GET", "/api/v1/packages/hello");
    await page.goto("/packages/hello?tab=edit");
    const editor = page.locator("[data-editor='Package as YAML'] .cm-content");
    await editor.getByText("1.0.0").first().waitFor();
    await editor.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText("# checked\n");
    await page.getByText("Valid", { exact: true }).waitFor();
    await api("POST", "/api/v1/packages/hello", {
      ...current,
      metadata: { description: "from someone else" },
      classes: current["classes"],
    });
    await page.getByRole("button", { name: "Save as a new revision" }).click();
    await page.getByText("Someone else has saved this package").waitFor();
    await page.locator("[data-editor='Your text against theirs']").getByText("from someone else").waitFor();
    await page.getByRole("button", { name: "Keep mine" }).click();
    await page.getByRole("button", { name: "Save as a new revision" }).click();
    await page.waitForURL("**/packages/hello?tab=revisions");
    expect(problems).toEqual([]);
  });

  const problemDocument = (status: number, detail: string, headers: Record<string, string> = {}) => ({
    status,
    headers: { "content-type": "application/problem+json", "x-correlation-id": "c-1", ...headers },
    body: JSON.stringify({
      type: "about:blank",
      title: "x",
      status,
      detail,
      error: detail,
      code: "X",
      kind: status === 409 ? "conflict" : "x",
      retryable: false,
      correlationId: "c-1",
    }),
  });

  test.each([
    { status: 403, headers: {}, title: "Not allowed", text: "only for admins" },
    { status: 409, headers: {}, title: "Changed meanwhile", text: "only for admins" },
    { status: 429, headers: { "retry-after": "7" }, title: "Too many requests", text: "Wait 7 seconds" },
    { status: 500, headers: {}, title: "The package manager failed", text: "only for admins" },
    { status: 503, headers: {}, title: "Temporarily unavailable", text: "only for admins" },
  ])("explains a response of $status and recovers from it", async ({ status, headers, title, text }) => {
    await using opened = await open(/status of [45]\d\d/);
    const { page, problems } = opened;
    const fail = (route: Route) => route.fulfill(problemDocument(status, "only for admins", headers));
    await page.route("**/api/v1/clusters", fail);
    await page.goto("/clusters");
    const alert = page.getByRole("alert");
    await alert.getByText(title).waitFor();
    expect(await alert.innerText()).toContain(text);
    expect(await alert.innerText()).toContain("c-1");
    await page.unroute("**/api/v1/clusters", fail);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("link", { name: "far-edge" }).waitFor();
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

  test("shows a lost connection, keeps the page, and recovers by itself", async () => {
    const proxy = await startTcpProxy(Number(new URL(stack.url).port));
    try {
      await using opened = await openPage(chromium.browser, {
        baseURL: `http://127.0.0.1:${proxy.port}`,
        expected: /ERR_|Failed to load/,
      });
      const { page } = opened;
      await page.goto("/clusters");
      await page.getByRole("link", { name: "far-edge" }).waitFor();
      proxy.set("reset");
      await page.getByText("The connection to the package manager is lost").waitFor();
      expect(await page.getByRole("link", { name: "far-edge" }).isVisible()).toBe(true);
      proxy.set("pass");
      await page.getByText("The connection to the package manager is lost").waitFor({ state: "detached" });
    } finally {
      await proxy.close();
    }
  });

  test("stays fast with 10,000 deployments: only visible rows and their pages", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    const total = 10_000;
    const pages = new Set<string>();
    await page.route("**/api/v1/deployments?**", async (route) => {
      const query = new URL(route.request().url()).searchParams;
      const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
      pages.add(`${offset}`);
      const rows = Array.from({ length: Math.min(limit, total - offset) }, (_, index) => ({
        key: `d-${String(offset + index).padStart(5, "0")}`,
        package_name: "p",
        class_key: "C",
        health: "Running",
        condition: "RUNNING",
        status: {
          replication_factor: 1,
          selected_envs: ["edge"],
          achieved_quorum_availability: 0.99,
          last_error: null,
        },
      }));
      await route.fulfill({
        headers: { "content-type": "application/json", "x-total-count": String(total), "x-correlation-id": "c" },
        body: JSON.stringify(rows),
      });
    });
    await page.goto("/deployments");
    await page.getByRole("link", { name: "d-00000" }).waitFor();
    expect(pages.size).toBe(1);
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await page.getByRole("link", { name: "d-09999" }).waitFor();
    expect(await page.getByRole("row").count()).toBeLessThan(80);
    expect(pages.size).toBeLessThanOrEqual(5);
    await page.getByRole("link", { name: "d-09999" }).hover();
    expect(problems).toEqual([]);
  });

  test("keeps filters and the order in the address, and the back button restores them", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.goto("/deployments?condition=Running&sort=-key");
    await page.getByRole("link", { name: "tickets" }).waitFor();
    expect(await page.getByRole("row").nth(1).innerText()).toContain("tickets");
    await page.getByRole("searchbox").fill("led");
    await page.getByRole("link", { name: "tickets" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "ledger", exact: true }).click();
    await page.waitForURL("**/deployments/ledger");
    await page.goBack();
    await page.getByRole("link", { name: "ledger", exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe("?condition=Running&sort=-key&filter=led");
    expect(await page.getByRole("searchbox").inputValue()).toBe("led");
    expect(problems).toEqual([]);
  });

  test("is used with the keyboard: palette, page keys, filter and help", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.goto("/");
    await settled(page);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("ledg");
    await page.getByRole("option", { name: /ledger Deployment/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/deployments/ledger");
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.waitForURL("**/packages");
    await page.getByRole("searchbox").waitFor();
    await page.keyboard.press("/");
    expect(await page.getByRole("searchbox").evaluate((element) => element === document.activeElement)).toBe(true);
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });

  test("breaks a cluster in the lab, shows it everywhere, and restores it", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.goto("/lab");
    await page
      .getByRole("button", { name: /partition|network/i })
      .and(page.getByRole("button", { name: /: far-edge$/ }))
      .first()
      .click();
    await page.getByText("1 fault injected").waitFor();
    await page.getByRole("link", { name: "Clusters", exact: true }).click();
    await page
      .getByRole("row", { name: /far-edge/ })
      .getByText("Healthy")
      .waitFor({ state: "detached" });
    await screenshot(page, "cluster-lost");
    await page.getByRole("link", { name: "Lab" }).click();
    await page.getByRole("button", { name: "Restore everything" }).click();
    await page.getByText("1 fault injected").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Clusters", exact: true }).click();
    await page
      .getByRole("row", { name: /far-edge/ })
      .getByText("Healthy")
      .waitFor();
    expect(problems).toEqual([]);
  });

  test("signs in with a token, offers what the role allows, and signs out", async () => {
    await using pm = await startWithToken("vera", "viewer", "viewer-token-0123456789");
    await using opened = await openPage(chromium.browser, { baseURL: pm.url, expected: /status of 401/ });
    const { page, problems } = opened;
    await page.goto("/packages?filter=x");
    await page.waitForURL("**/sign-in?**");
    expect(await accessibilityProblems(page)).toEqual([]);
    await screenshot(page, "sign-in");
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Token").fill("viewer-token-0123456789");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL("**/packages?filter=x");
    await page.getByText("Nothing matches the filters").waitFor();
    expect(await page.getByRole("link", { name: "New package" }).count()).toBe(0);
    expect(
      await page.evaluate(
        () =>
          [localStorage, sessionStorage].map((storage) => JSON.stringify(Object.values(storage))).join("") +
          document.cookie,
      ),
    ).not.toContain("viewer-token");
    await page.getByRole("button", { name: /vera/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL("**/sign-in?**");
    expect(problems).toEqual([]);
  });

  test("loads less than 200 kB of code and 100 kB of data at first, in at most 5 requests to the API", async () => {
    await using opened = await open();
    const { page } = opened;
    let code = 0;
    let data = 0;
    let calls = 0;
    page.on("response", async (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith("/assets/")) code += sizeOnTheWire(pathname);
      if (!pathname.startsWith("/api/")) return;
      calls += 1;
      if (pathname !== "/api/v1/events") data += (await response.body()).length;
    });
    await page.goto("/");
    await settled(page);
    await page.getByText("Recent changes").waitFor();
    console.log(`first load: ${code} bytes of code (gzip), ${data} bytes of data, ${calls} requests`);
    expect(code).toBeGreaterThan(50_000);
    expect(code).toBeLessThan(FIRST_LOAD_BUDGET);
    expect(data).toBeLessThan(100_000);
    expect(calls).toBeLessThanOrEqual(5);
  });
});

/** Types over the text, as a user does. */
async function replaceText(page: Page, editor: Locator, text: string): Promise<void> {
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

function sizeOnTheWire(pathname: string): number {
  try {
    return readFileSync(path.join(DIST, `${pathname}.gz`)).length;
  } catch {
    return readFileSync(path.join(DIST, pathname)).length;
  }
}
