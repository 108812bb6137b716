import { invalidArgument } from "@oaas/foundation";
import { createRecordingLogger } from "@oaas/observability/testing";
import { eventually } from "@oaas/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, startPm, storeContents, type Answer, type PmUnderTest } from "./running-pm.ts";

let east: ScriptedCrm;
let west: ScriptedCrm;
let pm: PmUnderTest;
let recording: ReturnType<typeof createRecordingLogger>;

beforeEach(async () => {
  recording = createRecordingLogger();
  [east, west] = await Promise.all([ScriptedCrm.start({ name: "east" }), ScriptedCrm.start({ name: "west" })]);
  pm = await startPm({
    clusters: { east: east.url, west: west.url },
    logger: recording.log,
    env: { DEPLOY_WAIT: "5s", CRM_HEALTH_CHECK_INTERVAL: "500ms" },
  });
});
afterEach(async () => {
  await pm.close();
  await Promise.all([east.close(), west.close()]);
});

const deploymentOf = (key: string, name: string, more: object = {}): object => ({
  deployment: { key, package_name: name, class_key: "Echo", target_clusters: ["east", "west"], ...more },
});
const packageOf = (name: string, more: object = {}): object => ({ package: echoPackage(name, more) });
const scaled = (name: string, maxScale: number): object =>
  packageOf(name, {
    functions: [{ key: "echo", provision_config: { container_image: "echo:1", max_scale: maxScale } }],
  });

function apply(documents: readonly object[], query = "", headers: Record<string, string> = {}): Promise<Answer> {
  return pm.call("POST", `/api/v1/apply${query}`, { body: { documents }, headers });
}

/** Asserts that a request is rejected and leaves the store as it is. */
async function expectRejected(documents: readonly object[], expected: object, query = ""): Promise<void> {
  const before = await storeContents(pm.store);
  for (const mode of ["dry_run=true", "dry_run=false"]) {
    const answer = await apply(documents, `?${mode}${query}`);
    expect(answer, `${mode}: ${answer.text}`).toMatchObject(expected);
    expect(await storeContents(pm.store), mode).toEqual(before);
  }
}

describe("a set of documents", () => {
  test("is applied in one transaction, whatever its order", async () => {
    const answer = await apply([
      deploymentOf("d", "shop"),
      packageOf("shop", { dependencies: ["base"] }),
      packageOf("base"),
    ]);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toMatchObject({
      dry_run: false,
      documents: [
        {
          kind: "deployment",
          name: "d",
          status: "created",
          revision: 1,
          rollout: "complete",
          operation: expect.any(String) as string,
          status_url: "/api/v1/deployments/d/status",
        },
        { kind: "package", name: "shop", status: "created", revision: 1 },
        { kind: "package", name: "base", status: "created", revision: 1 },
      ],
    });
    const [shop, base] = answer.json.documents.slice(1);
    expect(shop.etag, "one transaction").toBe(base.etag);
    expect((await pm.call("GET", "/api/v1/packages/shop")).headers.get("etag")).toBe(shop.etag);
    expect(east.units.all()).toHaveLength(1);
    expect((await pm.call("GET", "/api/v1/packages")).json.map(({ name }: { name: string }) => name)).toEqual([
      "base",
      "shop",
    ]);
    expect((await pm.call("DELETE", "/api/v1/packages/base")).status, "shop references it").toBe(400);
  });

  test("is planned with its own packages", async () => {
    await apply([packageOf("shop"), deploymentOf("d", "shop")]);
    const update = await apply([packageOf("shop", { version: "2" }), deploymentOf("d", "shop")]);
    expect(update.json.documents).toMatchObject([
      { status: "updated", revision: 2 },
      { status: "updated", revision: 2 },
    ]);
    const { json } = await pm.call("POST", "/api/v1/plans", {
      body: { deployment: (deploymentOf("d", "shop") as { deployment: object }).deployment },
    });
    expect(json).toMatchObject({ package_revision: 2, changes: [] });
  });

  test("that is applied again is unchanged and writes nothing", async () => {
    const documents = [packageOf("shop"), deploymentOf("d", "shop")];
    await apply(documents);
    const before = await storeContents(pm.store);
    const again = await apply(documents);
    expect(again.json.documents.map(({ status }: { status: string }) => status)).toEqual(["unchanged", "unchanged"]);
    expect(await storeContents(pm.store)).toEqual(before);
  });

  test("returns what would change in a dry run", async () => {
    await apply([packageOf("shop"), deploymentOf("d", "shop")]);
    const before = await storeContents(pm.store);
    const answer = await apply([packageOf("shop", { version: "2" }), deploymentOf("d", "shop")], "?dry_run=true");
    expect(answer.json).toMatchObject({
      dry_run: true,
      documents: [
        { status: "updated", revision: 2, changes: [{ path: "$.version", after: "2" }] },
        { status: "updated", revision: 2, plan: { package_revision: 2, explanation: expect.any(String) as string } },
      ],
    });
    expect(await storeContents(pm.store)).toEqual(before);
  });

  test("applies the deployments inside its packages on request", async () => {
    const { deployment } = deploymentOf("inside", "shop") as { deployment: object };
    const documents = [packageOf("shop", { deployments: [deployment] })];
    const answer = await apply(documents, "?apply_deployments=true");
    expect(answer.json.documents).toMatchObject([
      { kind: "package", status: "created" },
      { kind: "deployment", name: "inside", status: "created", rollout: "complete" },
    ]);
  });

  test("keeps what is stored when a roll-out fails, and reports its problem", async () => {
    for (const crm of [east, west]) crm.always({ do: "fail", fault: invalidArgument("the unit", []) }, "Deploy");
    const answer = await apply([packageOf("shop"), deploymentOf("d", "shop")]);
    expect(answer.json.documents).toMatchObject([{ status: "created" }, { status: "created" }]);
    expect(answer.json.documents[1]).toMatchObject({ rollout: "failed", problem: { kind: "partial-failure" } });
    expect((await pm.call("GET", "/api/v1/deployments/d")).status).toBe(200);
  });
});

describe("a set with a rejected document changes nothing", () => {
  test("a deployment that needs more replicas than its package allows", async () => {
    const part = { name: "deployment/d", problem: { kind: "failed-precondition" } };
    await expectRejected(
      [scaled("shop", 2), deploymentOf("d", "shop", { nfr_requirements: { min_throughput_rps: 100_000 } })],
      {
        json: { code: "OAAS_DOCUMENTS_REJECTED", parts: [part] },
      },
    );
  });

  test("every rejected document is reported at once", async () => {
    await expectRejected(
      [
        packageOf("shop"),
        packageOf("other", { dependencies: ["missing"] }),
        deploymentOf("d", "shop", { class_key: "Nothing" }),
        deploymentOf("e", "nowhere"),
        deploymentOf("f", "other"),
      ],
      {
        status: 400,
        json: {
          parts: [
            { name: "package/other", problem: { violations: [{ path: "$.dependencies[0]" }] } },
            { name: "deployment/d", problem: { violations: [{ path: "$.class_key" }] } },
            { name: "deployment/e", problem: { kind: "not-found" } },
          ],
        },
      },
    );
  });

  test("violations name the field as it was sent", async () => {
    const sent = { target_clusters: undefined, target_envs: ["east", "nowhere"] };
    await expectRejected([packageOf("shop"), deploymentOf("d", "shop", sent)], {
      json: { parts: [{ problem: { violations: [{ path: "$.target_envs[1]" }] } }] },
    });
  });

  test("packages that form a cycle", async () => {
    const cycle = [packageOf("a", { dependencies: ["b"] }), packageOf("b", { dependencies: ["a"] })];
    await expectRejected(cycle, { status: 400, json: { parts: [{ name: "package/a" }, { name: "package/b" }] } });
  });

  test("a cycle through a package that is not in the set", async () => {
    await apply([packageOf("a"), packageOf("b", { dependencies: ["a"] })]);
    await expectRejected([packageOf("c"), packageOf("a", { dependencies: ["b"] })], {
      status: 400,
      json: {
        parts: [
          { name: "package/a", problem: { violations: [{ message: expect.stringContaining("a → b → a") as string }] } },
        ],
      },
    });
  });

  test("two documents of one object", async () => {
    await expectRejected([packageOf("a"), packageOf("a", { version: "2" })], {
      status: 400,
      json: { violations: [{ path: "$.documents[1].package", message: "package/a is also document 0" }] },
    });
  });

  test("a document with neither or both kinds, and an unknown field inside", async () => {
    await expectRejected([{}, { ...packageOf("a"), ...deploymentOf("d", "a") }, packageOf("b", { clases: 1 })], {
      status: 400,
      json: {
        violations: [
          { path: "$.documents[2].package.clases", fix: "did you mean classes?" },
          { path: "$.documents[0]" },
          { path: "$.documents[1]" },
        ],
      },
    });
  });

  test("an object that has another version", async () => {
    await apply([packageOf("a")]);
    await expectRejected([packageOf("b"), { ...packageOf("a", { version: "2" }), if_match: '"1"' }], { status: 412 });
    await expectRejected([packageOf("b"), { ...packageOf("a"), if_none_match: "*" }], { status: 412 });
  });

  test("more documents than one transaction can write", async () => {
    const many = Array.from({ length: 30 }, (_, index) => deploymentOf(`d${index}`, "shop"));
    await expectRejected([packageOf("shop"), ...many], {
      status: 400,
      json: {
        violations: [
          {
            path: "$.documents",
            message: expect.stringMatching(/^need \d+ writes; one transaction has at most 128$/) as string,
          },
        ],
      },
    });
    expect((await apply([packageOf("shop"), ...many.slice(0, 12)])).status).toBe(200);
  });
});

describe("a request", () => {
  test("with an idempotency key is executed once", async () => {
    const documents = [packageOf("shop"), deploymentOf("d", "shop")];
    const send = () => apply(documents, "", { "idempotency-key": "set-1" });
    const first = await send();
    await apply([packageOf("shop", { version: "2" }), deploymentOf("d", "shop")]);
    const again = await send();
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.json).toEqual(first.json);
    expect((await pm.call("GET", "/api/v1/packages/shop")).json.version).toBe("2");
  });

  test("is in the audit trail with its documents; a dry run is not", async () => {
    const audited = () =>
      recording.records.map(({ fields }) => fields).filter(({ action }) => action === "applyDocuments");
    await apply([packageOf("shop")], "?dry_run=true");
    expect(audited()).toEqual([]);
    await apply([packageOf("shop"), deploymentOf("d", "shop")]);
    await eventually(() =>
      expect(audited().at(-1)).toMatchObject({ target: "package/shop, deployment/d", status: 200 }),
    );
    await apply([packageOf("shop", { dependencies: ["x"] })]);
    await eventually(() => expect(audited().at(-1)).toMatchObject({ status: 400 }));
  });

  test("that races with others leaves packages and deployments that belong together", async () => {
    const sets = Array.from({ length: 8 }, (_, index) => [
      packageOf("shop", { version: String(index) }),
      deploymentOf("d", "shop", { odgm: { log: String(index) } }),
    ]);
    const answers = await Promise.all(sets.map((documents) => apply(documents)));
    expect(answers.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
    const { json: shop } = await pm.call("GET", "/api/v1/packages/shop");
    const { json: deployment } = await pm.call("GET", "/api/v1/deployments/d");
    expect(deployment.odgm.log).toBe(shop.version);
    expect((await pm.call("GET", "/api/v1/packages/shop/revisions")).json).toHaveLength(8);
    expect((await pm.call("GET", "/api/v1/deployments/d/revisions")).json).toHaveLength(8);
  });
});
