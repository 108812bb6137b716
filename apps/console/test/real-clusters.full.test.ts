import { describeWith, eventually, startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildConsole, startStack, type Served } from "./console-process.ts";
import { openPage } from "./open-page.ts";

const PACKAGE = `name: journey
classes:
  - key: Walk
    function_bindings:
      - {name: step, function_key: Walk.step}
functions:
  - key: Walk.step
    provision_config: {container_image: 'example.test/walk:1.0.0'}
`;
/** Real control planes start pods and notice failures more slowly than the simulated ones. */
const PATIENCE = { timeout: 180_000 };

describeWith(["kubernetes", "etcd", "kwok", "chromium"], "the console on real clusters", () => {
  let stack: Served;
  let chromium: BrowserUnderTest;

  beforeAll(async () => {
    await buildConsole();
    [stack, chromium] = await Promise.all([startStack(["--real", "--clusters=2"]), startBrowser()]);
  });
  afterAll(async () => {
    await chromium?.close();
    await stack?.[Symbol.asyncDispose]();
  });

  const statusOf = async (key: string): Promise<{ condition: string; operation: { outcome?: string } }> => {
    const response = await fetch(`${stack.url}/api/v1/deployments/${key}/status`);
    return (await response.json()) as { condition: string; operation: { outcome?: string } };
  };

  test("deploys a new package, breaks its cluster in the lab, shows why, restores it and rolls back", async () => {
    // Chromium's own editing sets a style when typed text replaces several lines; the policy blocks it, to no effect.
    await using opened = await openPage(chromium.browser, {
      baseURL: stack.url,
      expected: /status of [45]\d\d|Applying inline style .*new-package/,
    });
    const { page, problems } = opened;

    await page.goto("/new-package");
    await page.locator("[data-editor='Package as YAML'] .cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(PACKAGE);
    await page.getByText("Valid", { exact: true }).waitFor();
    await page.getByRole("button", { name: "New package" }).click();
    await page.getByRole("link", { name: "Plan a deployment" }).click();
    await page.getByRole("checkbox", { name: "edge" }).first().check();
    await page.getByRole("button", { name: "Apply this plan" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Apply this plan" }).click();
    await page.waitForURL("**/deployments/journey");
    await page.locator("header").getByText("Running").waitFor(PATIENCE);

    await page.getByRole("link", { name: "Lab" }).click();
    await page.getByRole("button", { name: "Cluster down: edge" }).click();
    await page.getByText("1 fault injected").waitFor(PATIENCE);
    await page.goto("/deployments/journey?tab=why");
    await page
      .getByText(/unreachable/i)
      .first()
      .waitFor(PATIENCE);
    await page.getByRole("link", { name: "Lab" }).click();
    await page.getByRole("button", { name: "Restore everything" }).click();
    await page.getByText("1 fault injected").waitFor({ state: "detached", ...PATIENCE });
    // A plan that is made before the cluster is healthy again is outdated when it is applied.
    await eventually(async () => expect(await statusOf("journey")).toMatchObject({ condition: "Running" }), {
      timeoutMs: PATIENCE.timeout,
    });

    await page.goto("/plan?deployment=journey");
    await page.getByLabel("Availability (%)").fill("90");
    await page.getByText("Meets 90 %").first().waitFor();
    await page.getByRole("button", { name: "Apply this plan" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Apply this plan" }).click();
    await page.waitForURL("**/deployments/journey");
    await eventually(async () => expect((await statusOf("journey")).operation.outcome).toBe("Running"), {
      timeoutMs: PATIENCE.timeout,
    });
    await page.goto("/deployments/journey?tab=revisions");
    await page.getByText("2 (current)").waitFor();
    await page.getByRole("button", { name: "Roll back" }).click();
    await page.getByLabel("Reason (kept in the history)").fill("as before");
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await page.getByText("3 (current)").waitFor();
    await eventually(async () => expect(await statusOf("journey")).toMatchObject({ condition: "Running" }), {
      timeoutMs: PATIENCE.timeout,
    });
    expect(problems).toEqual([]);
  });
});
