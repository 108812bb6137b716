import { describeWith, eventually, startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildConsole, startPackageManager, type Served } from "./console-process.ts";
import { accessibilityProblems, openPage, type OpenPage } from "./open-page.ts";

const CLUSTERS = ["east", "north", "west"];
const OUTDATED = "Nothing was applied: the plan that you saw is outdated";

describeWith(["chromium"], "a plan that becomes outdated while its page is open", () => {
  let pm: Served;
  let chromium: BrowserUnderTest;
  let opened: OpenPage;
  let count = 0;
  let key = "";

  beforeAll(async () => {
    await buildConsole();
    const settings = {
      BENCH_PACKAGES: "0",
      BENCH_DEPLOYMENTS: "0",
      BENCH_CLUSTERS: CLUSTERS.join(),
      DEPLOY_WAIT: "20s",
    };
    [pm, chromium] = await Promise.all([
      startPackageManager({ program: "bench/pm/seeded-main.ts", env: () => settings }),
      startBrowser(),
    ]);
    await eventually(async () => {
      const known = await api<{ health: { status: string } }[]>("GET", "/api/v1/clusters");
      return known.every(({ health }) => health.status === "Healthy");
    });
    await api("POST", "/api/v1/packages", packageWith("1.0.0"));
  });
  afterAll(async () => {
    await chromium?.close();
    await pm?.[Symbol.asyncDispose]();
  });

  beforeEach(async () => {
    key = `order-${(count += 1)}`;
    opened = await openPage(chromium.browser, { baseURL: pm.url, expected: /status of 4(09|12)/ });
  });
  afterEach(async () => {
    await opened[Symbol.asyncDispose]();
    for (const name of CLUSTERS) await api("POST", `/api/v1/clusters/${name}/uncordon`);
  });

  async function api<T>(method: string, target: string, body?: object): Promise<T> {
    const response = await fetch(pm.url + target, {
      method,
      ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  const deploy = (availability: number, more: object = {}) =>
    api("POST", "/api/v1/deployments", {
      key,
      package_name: "shop",
      class_key: "Order",
      nfr_requirements: { availability },
      ...more,
    });
  const stored = () =>
    api<{ nfr_requirements: object; target_clusters: string[]; status: { selected_envs: string[] } }>(
      "GET",
      `/api/v1/deployments/${key}`,
    );
  const revisions = () => api<unknown[]>("GET", `/api/v1/deployments/${key}/revisions`);

  test("names the cluster that changed, and applies the new plan at the next try", async () => {
    const { page, problems } = opened;
    await page.goto(`/plan?package=shop&class=Order`);
    await page.getByLabel("Name", { exact: true }).fill(key);
    await page.getByRole("button", { name: "Apply this plan" }).and(page.locator(":enabled")).waitFor();
    await api("POST", "/api/v1/clusters/east/cordon", { reason: "broken switch" });
    await apply(page);
    const alert = page.getByRole("alert");
    await alert.getByText(OUTDATED).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await alert.innerText()).toContain("units.east");
    await expect(stored()).rejects.toThrow("404");
    await page.getByText("broken switch").first().waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await apply(page);
    await page.waitForURL(`**/deployments/${key}`);
    expect((await stored()).status.selected_envs).not.toContain("east");
    expect(problems).toEqual([]);
  });

  test("shows a new revision of the package, with the image that moved", async () => {
    const { page, problems } = opened;
    await deploy(0.9);
    await openPlan(page, "95");
    await api("POST", "/api/v1/packages/shop", packageWith("2.0.0"));
    await apply(page);
    const alert = page.getByRole("alert");
    await alert.getByText("shop:2.0.0").waitFor();
    expect(await alert.innerText()).toContain("package_revision");
    expect(await revisions()).toHaveLength(1);
    await apply(page);
    await page.waitForURL(`**/deployments/${key}`);
    expect(await revisions()).toHaveLength(2);
    expect(problems).toEqual([]);
  });

  test("shows what someone else changed in the deployment, and replaces it only with the plan that says so", async () => {
    const { page, problems } = opened;
    await deploy(0.9);
    await openPlan(page, "95");
    await deploy(0.9, { target_clusters: ["west"] });
    await apply(page);
    const alert = page.getByRole("alert");
    await alert.getByText("Someone else has changed the deployment meanwhile").waitFor();
    expect(await alert.innerText()).toMatch(/target_clusters[\s\S]*west/);
    expect(await revisions()).toHaveLength(2);
    // The changes of the new plan are against their revision.
    await page.getByRole("button", { name: "Apply this plan" }).and(page.locator(":enabled")).waitFor();
    await apply(page);
    await page.waitForURL(`**/deployments/${key}`);
    expect(await stored()).toMatchObject({ nfr_requirements: { availability: 0.95 } });
    expect((await stored()).target_clusters ?? []).toEqual([]);
    expect(problems).toEqual([]);
  });

  test("starts again from the deployment of someone else", async () => {
    const { page, problems } = opened;
    await deploy(0.9);
    await openPlan(page, "95");
    await deploy(0.9, { target_clusters: ["west"] });
    await apply(page);
    await page.getByRole("button", { name: "Start again from theirs" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(await page.getByRole("checkbox", { name: "west" }).first().isChecked()).toBe(true);
    await page.getByLabel("Availability (%)").fill("92");
    await page.getByText("Meets 92 %").first().waitFor();
    await apply(page);
    await page.waitForURL(`**/deployments/${key}`);
    expect(await stored()).toMatchObject({ target_clusters: ["west"], nfr_requirements: { availability: 0.92 } });
    expect(problems).toEqual([]);
  });

  test("applies the plan when only the version of the deployment has changed", async () => {
    const { page, problems } = opened;
    await deploy(0.9);
    await openPlan(page, "95");
    await deploy(0.91);
    await deploy(0.9);
    await apply(page);
    await page.waitForURL(`**/deployments/${key}`);
    expect(await stored()).toMatchObject({ nfr_requirements: { availability: 0.95 } });
    expect(problems).toEqual([]);
  });

  /** The plan of another availability, ready to be applied. */
  async function openPlan(page: Page, percent: string): Promise<void> {
    await page.goto(`/plan?deployment=${key}`);
    await page.getByLabel("Availability (%)").fill(percent);
    await page.getByText(`Meets ${percent} %`).first().waitFor();
    await page.getByRole("button", { name: "Apply this plan" }).and(page.locator(":enabled")).waitFor();
  }
});

async function apply(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Apply this plan" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Apply this plan" }).click();
}

function packageWith(version: string): object {
  return {
    name: "shop",
    classes: [{ key: "Order", function_bindings: [{ name: "place", function_key: "Order.place" }] }],
    functions: [{ key: "Order.place", provision_config: { container_image: `example.test/shop:${version}` } }],
  };
}
