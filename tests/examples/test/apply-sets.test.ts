import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "../../../apps/package-manager/test/fakes/scripted-crm.ts";
import { startPm, storeContents, type PmUnderTest } from "../../../apps/package-manager/test/running-pm.ts";
import { createCliRunner } from "../../../apps/cli/test/cli-runner.ts";

/** Three replicas are needed for strong consistency, and the function allows two. */
const TOO_SMALL = `name: bank
classes:
  - key: Account
    state_spec: { consistency_model: STRONG }
    function_bindings: [{ name: pay, function_key: pay, access_modifier: PUBLIC }]
functions:
  - key: pay
    provision_config: { container_image: "example.test/pay:1", max_scale: 2 }
---
key: account
package_name: bank
class_key: Account
target_clusters: [east]
`;

describe("oaas apply with several documents", () => {
  let home: string;
  let east: ScriptedCrm;
  let pm: PmUnderTest;
  let oaas: ReturnType<typeof createCliRunner>;
  beforeAll(async () => {
    home = await mkdtemp(path.join(tmpdir(), "oaas-cli-sets-"));
    east = await ScriptedCrm.start({ name: "east" });
    pm = await startPm({ clusters: { east: east.url }, env: { DEPLOY_WAIT: "20s" } });
    oaas = createCliRunner(home, { OAAS_PM_URL: pm.url });
  });
  afterAll(async () => {
    await pm.close();
    await east.close();
    await rm(home, { recursive: true, force: true });
  });

  const file = async (name: string, text: string): Promise<string> => {
    const at = path.join(home, name);
    await writeFile(at, text);
    return at;
  };

  test("writes nothing when a deployment is refused; every check gives the same message", async () => {
    const bank = await file("bank.yaml", TOO_SMALL);
    const before = await storeContents(pm.store);
    const applied = await oaas(`apply -f ${bank}`);
    expect(applied, applied.err).toMatchObject({ code: 1, out: "" });
    expect(applied.err).toContain("max_scale");
    expect(applied.err).toContain("Nothing was applied.");
    const [message = ""] = applied.err.split("Nothing was applied.");
    for (const line of [
      `package validate -f ${bank}`,
      `apply -f ${bank} --dry-run`,
      `plan -f ${bank}`,
      `diff -f ${bank}`,
    ]) {
      const seen = await oaas(line);
      expect(seen.code, line).toBe(2);
      expect(seen.err, line).toContain(message);
    }
    expect(await storeContents(pm.store)).toEqual(before);
    const fixed = await file("fixed.yaml", TOO_SMALL.replace("max_scale: 2", "max_scale: 3"));
    expect(await oaas(`apply -f ${fixed}`)).toMatchObject({
      code: 0,
      out: "package/bank created\ndeployment/account created\n",
    });
    expect(await oaas(`apply -f ${fixed}`)).toMatchObject({
      out: "package/bank unchanged\ndeployment/account unchanged\n",
    });
  });

  test("shows the warnings of the package manager with --validate=warn", async () => {
    const typo = await file("typo.yaml", "name: typo\nversoin: 1.0.0\nclasses: []\nfunctions: []\n");
    expect(await oaas(`apply -f ${typo}`)).toMatchObject({ code: 2, out: "" });
    const warned = await oaas(`apply -f ${typo} --validate=warn`);
    expect(warned).toMatchObject({ code: 0, out: "package/typo created\n" });
    expect(warned.err).toBe("warning: $.documents[0].package.versoin: unknown field; did you mean version?\n");
    expect(await oaas(`apply -f ${typo} --validate=ignore`)).toMatchObject({ code: 0, err: "" });
  });

  test("delete waits for a cluster that is away before it deletes the package", async () => {
    const text =
      "name: away\nclasses: [{ key: A }]\n---\nkey: away\npackage_name: away\nclass_key: A\ntarget_clusters: [east]\n";
    const away = await file("away.yaml", text);
    expect(await oaas(`apply -f ${away}`)).toMatchObject({ code: 0 });
    await east.down();
    const deleting = oaas(`delete -f ${away} --yes`);
    // The command waits after the package manager has given up its attempts for now.
    await eventually(async () => {
      const { json } = await pm.call("GET", "/api/v1/deployments/away/status");
      expect(json).toMatchObject({
        condition: "Deleted",
        operation: { kind: "delete", state: expect.not.stringMatching("running") },
      });
    });
    await east.up();
    const deleted = await deleting;
    expect(deleted, deleted.err).toMatchObject({ code: 0 });
    expect(deleted.err).toContain("Waiting for the deletion of deployment/away");
    expect(deleted.out).toContain("package/away deleted");
  });

  test("applies documents one after another on an older package manager, and says so", async () => {
    const forward = createServer((request, response) => {
      if (request.url?.startsWith("/api/v1/apply") === true) {
        response.writeHead(404, { "content-type": "application/json" }).end('{"error":"not found"}');
        return;
      }
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const body = parts.length === 0 ? {} : { raw: Buffer.concat(parts).toString() };
        const headers = { "content-type": request.headers["content-type"] ?? "application/json" };
        void pm.call(request.method ?? "GET", request.url ?? "/", { ...body, headers }).then((answer) => {
          response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
        });
      });
    });
    await new Promise<void>((resolve) => forward.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(forward.address() as AddressInfo).port}`;
      const both = await file("both.yaml", "name: one\n---\nname: two\ndependencies: [one]\n");
      const seen = await oaas(`apply -f ${both}`, { env: { OAAS_PM_URL: url } });
      expect(seen).toMatchObject({ code: 0, out: "package/one created\npackage/two created\n" });
      expect(seen.err).toContain("older");
      const dry = await oaas(`apply -f ${both} --dry-run`, { env: { OAAS_PM_URL: url } });
      expect(dry).toMatchObject({ code: 1, out: "" });
      expect(dry.err).toContain("upgrade");
    } finally {
      forward.close();
    }
  });
});
