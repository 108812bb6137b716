import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCliRunner } from "./cli-runner.ts";
import { startLocalStack, type LocalStackUnderTest } from "./local-stack.ts";
import { missingTerminalReason, runInTerminal } from "./pseudo-terminal.ts";

const CLI = path.resolve(import.meta.dirname, "..", "src", "main.ts");

describe("oaas init", () => {
  let folder: string;
  let oaas: ReturnType<typeof createCliRunner>;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "oaas-init-"));
    oaas = createCliRunner(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const read = (name: string): string => readFileSync(path.join(folder, name), "utf8");

  test("writes commented documents from flags", async () => {
    const flags = "--yes --name shop --class Order --function place --function cancel --image example.test/place:2.0.0";
    const { code, out, err } = await oaas(`init ${folder} ${flags} --state none --cluster edge --availability 0.99`);
    expect({ code, out }).toEqual({ code: 0, out: `Wrote ${folder}/package.yaml and ${folder}/deployment.yaml.\n` });
    expect(err).toContain("oaas apply -f ");
    expect(read("package.yaml")).toMatch(/^# A package:.*container_image: example\.test\/place:2\.0\.0\n/s);
    expect(read("package.yaml")).toContain("container_image: example.test/shop-cancel:1.0.0\n");
    expect(read("package.yaml")).not.toMatch(/^ *state_spec:/m);
    expect(read("deployment.yaml")).toMatch(/^target_clusters:\n {2}- edge\n.*^ {2}availability: 0\.99\n/ms);
  });

  test("asks, repeats a question after an invalid answer with the rule, and uses defaults", async () => {
    const answers = ["my shop", "shop", "Or.der", "Order", "place, cancel", "", "weak", "strong", "", "99", "0.999"];
    const { code, err } = await oaas(`init ${folder}`, { answers });
    expect(code).toBe(0);
    expect(err).toMatch(/Name of the package \[hello\]: .*invalid: "my shop" is not a package name; use letters/s);
    expect(err).toMatch(/Name of the class \[Shop\]: .*invalid: "Or\.der" is not a class key/s);
    expect(err).toMatch(/State: .*invalid: "weak" is not a consistency model/s);
    expect(err).toMatch(/Target availability.*invalid: /s);
    expect(read("package.yaml")).toMatch(/name: shop\n.*key: Order\n.*consistency_model: STRONG\n.*name: cancel\n/s);
    expect(read("deployment.yaml")).toContain("availability: 0.999\n");
  });

  test("refuses to overwrite without --force, and to guess without a terminal", async () => {
    expect(await oaas(`init ${folder}`)).toMatchObject({ code: 2, err: expect.stringContaining("use --yes") });
    expect(await oaas(`init ${folder} --yes`)).toMatchObject({ code: 0 });
    writeFileSync(path.join(folder, "package.yaml"), "mine");
    expect(await oaas(`init ${folder} --yes`)).toMatchObject({ code: 2, err: expect.stringContaining("--force") });
    expect(read("package.yaml")).toBe("mine");
    expect(await oaas(`init ${folder} --yes --force`)).toMatchObject({ code: 0 });
    expect(read("package.yaml")).toContain("name: hello\n");
  });

  test.each([
    ["--name", ["--name", "my shop"], /--name: "my shop" is not a package name; use letters|--name: "my shop"/],
    ["--image", ["--image", "a:1", "--image", "b:1"], /--image: 2 images for 1 functions/],
    ["--function", ["--function", ""], /--function: no function given/],
    ["--cluster", ["--cluster", "a b"], /--cluster: "a b" is not a cluster name/],
    ["a folder below a file", [], /cannot (?:read|write)/],
  ])("rejects an invalid %s and writes nothing", async (what, flags, text) => {
    writeFileSync(path.join(folder, "file"), "");
    const target = what.startsWith("a folder") ? path.join(folder, "file", "x") : path.join(folder, "new");
    const { code, err } = await oaas(["init", target, "--yes", ...flags]);
    expect({ code, text: err }).toEqual({ code: 2, text: expect.stringMatching(text) as string });
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  const noTerminal = missingTerminalReason();
  test.skipIf(noTerminal !== undefined && process.env["CI"] !== "true").each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("%s at a question exits with 130 and writes nothing", async (_, key) => {
    const { code } = await runInTerminal([process.execPath, CLI, "init"], {
      cwd: folder,
      env: { HOME: folder },
      input: [
        { after: "Name of the package", text: "shop\r" },
        { after: "Name of the class", text: key },
      ],
    });
    expect(code).toBe(130);
    expect(readdirSync(folder).filter((name) => name.endsWith(".yaml"))).toEqual([]);
  });
});

describe("documents of oaas init on a local stack", () => {
  let stack: LocalStackUnderTest;
  beforeAll(async () => {
    stack = await startLocalStack(["--clusters", "1"]);
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  test("pass validate, and run after apply", async () => {
    const oaas = createCliRunner(stack.folder, { OAAS_PM_URL: stack.url });
    const folder = path.join(stack.folder, "mine");
    expect(await oaas(`init ${folder} --yes --name mine`)).toMatchObject({ code: 0 });
    expect(existsSync(path.join(folder, "deployment.yaml"))).toBe(true);
    expect(await oaas(`validate -f ${folder} --offline`)).toMatchObject({ code: 0 });
    expect((await oaas(`validate -f ${folder}`)).out).toBe("package/mine is valid\ndeployment/mine is valid\n");
    expect(await oaas(`apply -f ${folder} --wait --timeout 3m`)).toMatchObject({ code: 0 });
    expect((await oaas("deployment status mine -o jsonpath={.condition}")).out).toBe("Running\n");
  });
});
