import { writeFile } from "node:fs/promises";
import path from "node:path";
import { eventually } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCliRunner, readText } from "./cli-runner.ts";
import { startLocalStack, type LocalStackUnderTest } from "./local-stack.ts";

const EXAMPLES = path.resolve(import.meta.dirname, "..", "..", "..", "examples");

describe("kubectl's commands on a local stack with the clusters edge and cloud", () => {
  let stack: LocalStackUnderTest;
  let oaas: ReturnType<typeof createCliRunner>;
  beforeAll(async () => {
    stack = await startLocalStack(["--clusters", "2"]);
    oaas = createCliRunner(stack.folder, { OAAS_PM_URL: stack.url });
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());

  const out = async (line: string | readonly string[]): Promise<string> => {
    const { code, out: text, err } = await oaas(line);
    expect({ line, code, err }).toEqual({ line, code: 0, err: "" });
    return text;
  };

  test.each([
    ["packages", "package"],
    ["pkg", "package"],
    ["deployment", "deployment"],
    ["deploy", "deployment"],
    ["crt", "class-runtime"],
    ["class-runtimes", "class-runtime"],
    ["envs", "cluster"],
    ["cluster", "cluster"],
    ["classes", "class"],
    ["fn", "function"],
    ["contexts", "context"],
  ])("get %s lists objects of the kind %s", async (word, kind) => {
    const lines = (await out(`get ${word} -o name`)).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(new RegExp(`^${kind}/\\S+$`));
  });

  test("get accepts KIND NAME, KIND/NAME, several names and several kinds", async () => {
    expect(await out("get deploy hello -o name")).toBe("deployment/hello\n");
    expect(await out("get deployment/hello pkg/shop -o name")).toBe("deployment/hello\npackage/shop\n");
    expect(await out("get envs edge cloud -o name")).toBe("cluster/edge\ncluster/cloud\n");
    expect(await out("get deploy,pkg --no-headers")).toMatch(/^deployment\/hello .*\n\npackage\/hello .*$/ms);
    expect(await out("get all")).toMatch(
      /^NAME.*package\/shop .*\n\nKEY.*deployment\/hello .*\n\nID.*\n\nNAME.*cluster\/edge /s,
    );
  });

  test("get prints one object as itself and several as a list, as kubectl does", async () => {
    expect(JSON.parse(await out("get deploy hello -o json"))).toMatchObject({ key: "hello" });
    expect(JSON.parse(await out("get envs -ojson"))).toMatchObject({
      kind: "List",
      items: [{ name: "cloud" }, { name: "edge" }],
    });
    expect(await out(["get", "envs", "-o", 'jsonpath={range .items[*]}{.name}{"\\n"}{end}'])).toBe("cloud\nedge\n\n");
    expect(await out(["get", "envs", "-o", "jsonpath={.items[?(@.name=='edge')].health.status}"])).toBe("Healthy\n");
    expect(await out("get envs -o custom-columns=NAME:.name,STATUS:.health.status,X:.x")).toBe(
      "NAME    STATUS    X\ncloud   Healthy   <none>\nedge    Healthy   <none>\n",
    );
    expect(await out("get envs -o custom-columns=NAME:.name --no-headers")).toBe("cloud\nedge\n");
    expect(JSON.parse(await out("get pkg,envs -o json"))).toMatchObject({
      items: [{ kind: "package" }, {}, {}, {}, {}],
    });
  });

  test("get selects by label, tag, field and namespace, and sorts", async () => {
    expect(await out("get clusters -l env=edge --show-labels")).toMatch(/^NAME .*LABELS\nedge .* env=edge,zone=a\n$/);
    expect(await out(["get", "clusters", "-l", "zone in (a, b),env!=edge", "-o", "name"])).toBe("cluster/cloud\n");
    expect(await out("get pkg -l example -o name")).toContain("package/shop\n");
    expect(await out("get deploy --field-selector package_name=hello -o name")).toBe("deployment/hello\n");
    expect(await out("get envs --sort-by .health.node_count -o name")).toBe("cluster/edge\ncluster/cloud\n");
    expect(await out("get crt -A")).toMatch(/^NAMESPACE +ID .*\ndefault /);
    expect(await out("get deploy -A")).toMatch(/^NAMESPACE +KEY .*\ndefault /);
    expect(await out("get deploy -n default -o name")).toContain("deployment/hello\n");
    expect(await oaas("get deploy -n other")).toMatchObject({ out: "", err: "No deployments found.\n" });
    expect(await out("get deploy hello -o wide")).toMatch(/NAMESPACE.*\n.* default /);
    expect(await oaas("get crt -n other")).toEqual({ code: 0, out: "", err: "No class-runtimes found.\n" });
    expect(await oaas("get pkg -n other -o table")).toMatchObject({
      code: 0,
      err: "note: packages have no namespace; --namespace has no effect\n",
    });
    expect(await oaas("get deploy -l a=b")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--field-selector"),
    });
    expect(await oaas("get envs --sort-by .nothing")).toMatchObject({ code: 2 });
  });

  test("a missing object is an error with exit code 1 and the nearest name, next to the objects that exist", async () => {
    expect(await oaas("get deploy hello helo -o name")).toEqual({
      code: 1,
      out: "deployment/hello\n",
      err: 'error: deployment "helo" was not found\n  hint: did you mean hello? see oaas get deployments\n  OAAS_NOT_FOUND\n',
    });
    const json = await oaas("get deploy helo -o json");
    expect(json).toMatchObject({ code: 1, out: "" });
    expect(JSON.parse(json.err)).toMatchObject({ kind: "not-found", exit_code: 1 });
    expect(await oaas("get deploy helo --ignore-not-found")).toEqual({ code: 0, out: "", err: "" });
    expect(await oaas("describe cluster edg")).toMatchObject({
      code: 1,
      err: expect.stringContaining("did you mean edge?"),
    });
    expect(await oaas("get depoyments")).toMatchObject({
      code: 2,
      err: expect.stringContaining("did you mean deployments?"),
    });
    expect(await oaas("get")).toMatchObject({ code: 2, err: expect.stringContaining("name a kind") });
    expect(await oaas("get events")).toMatchObject({ code: 2, err: expect.stringContaining("--watch") });
  });

  test("describe shows what belongs to an object", async () => {
    expect(await out("describe deployment hello")).toMatch(/^hello .*Running.*\nRevisions:\nREVISION.*\n1 /s);
    expect(await out("describe pkg/shop")).toMatch(
      /^name: shop\n.*\nClasses:\n.*\nDeployments:\n.*shop-order.*\nRevisions:\n/s,
    );
    expect(await out("describe cluster edge")).toMatch(/^name: edge\n.*zone: a\n.*\nClass runtimes:\n.*hello-edge-/s);
    expect(JSON.parse(await out("describe class shop.Order -o json"))).toMatchObject({ key: "shop.Order" });
  });

  test("explain, logs and top accept kinds, short names and KIND/NAME", async () => {
    const explained = await out("explain hello");
    expect(await out("explain deployment/hello")).toBe(explained);
    expect(await out("explain deploy hello")).toBe(explained);
    expect(await out("explain deploy.rollout")).toBe(await out("explain deployment.rollout"));
    expect(await out("explain deployments")).toBe(await out("explain deployment"));
    expect(await out("explain clusters.labels")).toContain("cluster.labels");
    expect(await out("logs deployment/hello --history")).toBe(await out("logs hello --history"));
    expect(await oaas("logs package/shop")).toMatchObject({
      code: 2,
      err: expect.stringContaining("not a deployment"),
    });
    for (const target of ["deployment hello", "deploy/hello", "pkg/hello", "class/hello.Greeter", "class Greeter"])
      expect(await out(`top ${target}`), target).toMatch(/^CLASS.*\nhello\.Greeter /);
    expect(await out("top cluster/cloud")).not.toContain("hello.Greeter");
    expect(await oaas("top contexts")).toMatchObject({ code: 2 });
  });

  test("rollout follows, lists and undoes, and delete removes by name", async () => {
    const folder = stack.folder;
    const pkg = path.join(EXAMPLES, "packages", "counter.yaml");
    const first = path.join(EXAMPLES, "deployments", "counter.yaml");
    const second = path.join(folder, "second.yaml");
    await writeFile(second, `${await readText(first)}telemetry: { enabled: false }\n`);
    await oaas(`apply -f ${pkg} -f ${first} --wait`);
    await oaas(`apply -f ${second} --wait`);

    const status = await oaas("rollout status deployment/counter");
    expect(status).toMatchObject({ code: 0, out: 'deployment "counter" successfully rolled out\n' });
    expect(await out("rollout status deploy/counter --watch=false")).toMatch(/^counter /);
    expect(await out("rollout history deploy counter -o name")).toBe("revision/2\nrevision/1\n");
    expect(await out("rollout history deployment/counter --revision 1")).toMatch(/^revision: 1\n/m);
    expect(await out("rollout history package/counter -o name")).toBe("revision/1\n");
    expect(await out("rollout undo deployment/counter --reason back")).toContain("back to revision 1");
    expect(await out("rollout undo deployment/counter --to-revision=2")).toContain("back to revision 2");
    expect(await oaas("rollout undo pkg/counter")).toMatchObject({
      code: 2,
      err: expect.stringContaining("no previous"),
    });
    expect(await oaas("rollout undo deploy/counter --to-revision x")).toMatchObject({ code: 2 });
    expect(await oaas("rollout history cluster/edge")).toMatchObject({ code: 2 });

    expect(await oaas("delete deployment counter")).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
    expect(await oaas("delete deployment counte --yes")).toMatchObject({
      code: 1,
      err: expect.not.stringContaining("did you mean") as string,
    });
    expect(await out("delete deployment counter --yes")).toMatch(/^deployment\/counter (?:is being )?deleted\n$/);
    await eventually(async () => (await oaas("delete pkg/counter --yes")).code === 0, { timeoutMs: 60_000 });
    expect(await out("delete pkg/counter --yes --ignore-not-found")).toBe("");
    expect(await oaas("delete class/shop.Order --yes")).toMatchObject({ code: 2 });
    expect(await oaas("delete deployments --yes")).toMatchObject({
      code: 2,
      err: expect.stringContaining("name what"),
    });
  });

  test("get --watch prints every object, then each that changes, until Ctrl-C", async () => {
    const stop = new AbortController();
    let text = "";
    const watching = oaas("get packages -w", { signal: stop.signal, onOutput: (all) => (text = all) });
    await eventually(() => text.includes("shop "), { timeoutMs: 60_000 });
    await oaas(`apply -f ${path.join(EXAMPLES, "packages", "counter.yaml")}`);
    await eventually(() => /^counter +1\.0\.0/m.test(text), { timeoutMs: 60_000 });
    await oaas("delete pkg counter --yes");
    await eventually(() => text.includes("package/counter deleted"), { timeoutMs: 60_000 });
    stop.abort();
    expect((await watching).code).toBe(130);
    expect(text.match(/^shop /gm), "unchanged rows are not repeated").toHaveLength(1);
    expect(text.match(/^NAME /gm)).toHaveLength(1);
  });
});
