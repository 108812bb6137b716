import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ok, err, type Result } from "@oaas/foundation";
import { describeWith, eventually, startKubernetes, sweepSize, type KubernetesUnderTest } from "@oaas/testkit";
import type { JsonObject, Status } from "@oaas/kube-core";
import { applyConfiguration } from "../src/apply/server-side-apply.ts";
import { openApiSchemas } from "../src/schema/openapi-schemas.ts";
import type { StructuralSchema } from "../src/schema/structural-schema.ts";
import rules from "../testdata/recorded/cel-rules.json" with { type: "json" };
import objects from "../testdata/recorded/custom-resources.json" with { type: "json" };
import writes from "../testdata/recorded/server-side-apply.json" with { type: "json" };
import patches from "../testdata/recorded/strategic-merge-patches.json" with { type: "json" };
import schemas from "../testdata/recorded/structural-schemas.json" with { type: "json" };
import { createSender, causesOf, definition, type SendRequest } from "./writes/api-server.ts";
import { answerOf, comparable, OneObjectServer, type WriteStep } from "./writes/one-object-server.ts";
import { writeSequences } from "./writes/write-steps.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAMESPACE = "/apis/probe.test/v1/namespaces/default";

describeWith(["kubernetes", "etcd"], "the recording of writes matches the real server", () => {
  let cluster: KubernetesUnderTest;
  let send: SendRequest;
  beforeAll(async () => {
    cluster = await startKubernetes();
    send = createSender(cluster);
    await send("POST", DEFINITIONS, definition("sinks", "Sink", objects.schema));
    await send("POST", DEFINITIONS, definition("mixes", "Mix", writes.schema, { subresources: { status: {} } }));
    for (const plural of ["sinks", "mixes"]) {
      await eventually(async () => (await send("GET", `${NAMESPACE}/${plural}`)).code === 200, { what: plural });
    }
  });
  afterAll(() => cluster?.close());

  it("schema errors", async () => {
    for (const { why, schema, causes } of schemas) {
      const answer = await send("POST", `${DEFINITIONS}?dryRun=All`, definition("bads", "Bad", schema));
      expect({ why, causes: causesOf(answer) }).toEqual({
        why,
        causes: causesOf({ code: 0, body: { details: { causes } } }),
      });
    }
  });

  it("returned objects and errors", async () => {
    for (const { why, object, causes = [], admitted } of objects.cases as readonly RecordedObject[]) {
      const sent = { apiVersion: "probe.test/v1", kind: "Sink", metadata: { name: "t" }, ...object };
      const answer = await send("POST", `${NAMESPACE}/sinks?dryRun=All`, sent);
      expect({ why, causes: causesOf(answer) }).toEqual({
        why,
        causes: causesOf({ code: 0, body: { details: { causes } } }),
      });
      if (admitted === undefined) continue;
      const { spec, status } = answer.body;
      expect({ why, spec, status }).toEqual({ why, spec: admitted["spec"], status: admitted["status"] });
    }
  });

  it("errors in validation rules", async () => {
    for (const { why, schema, causes } of rules.definitions) {
      const root = { type: "object", properties: { spec: schema } };
      const answer = await send("POST", `${DEFINITIONS}?dryRun=All`, definition("bads", "Bad", root));
      expect({ why, causes: causesOf(answer) }).toEqual({
        why,
        causes: causesOf({ code: 0, body: { details: { causes } } }),
      });
    }
  });

  it("violations of validation rules", async () => {
    const root = { type: "object", properties: { spec: rules.spec } };
    await send("POST", DEFINITIONS, definition("ruleds", "Ruled", root));
    await eventually(async () => (await send("GET", `${NAMESPACE}/ruleds`)).code === 200, { what: "ruleds" });
    for (const [index, { why, object, old, causes }] of (rules.objects as readonly RuledObject[]).entries()) {
      const metadata = { name: `t${index}` };
      const sent = { apiVersion: "probe.test/v1", kind: "Ruled", metadata, spec: object };
      const before = old && (await send("POST", `${NAMESPACE}/ruleds`, { ...sent, spec: old }));
      const { resourceVersion = "" } = (before?.body["metadata"] ?? {}) as JsonObject;
      const answer = before
        ? await send("PUT", `${NAMESPACE}/ruleds/t${index}?dryRun=All`, {
            ...sent,
            metadata: { ...metadata, resourceVersion },
          })
        : await send("POST", `${NAMESPACE}/ruleds?dryRun=All`, sent);
      expect({ why, causes: causesOf(answer) }).toEqual({
        why,
        causes: causesOf({ code: 0, body: { details: { causes } } }),
      });
    }
  });

  it("writes by several managers", async () => {
    for (const [index, { why, steps }] of (writes.scenarios as unknown as readonly Scenario[]).entries()) {
      for (const { answer, ...step } of steps) {
        const answered = answerOf(await write(send, `recorded-${index}`, step));
        expect({ why, step, answer: comparable(answered) }).toEqual({ why, step, answer: comparable(answer) });
      }
    }
  });

  it("strategic merge patches", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    for (const [index, { why, patch, result, message }] of (patches.cases as readonly RecordedPatch[]).entries()) {
      const url = `${deployments}/patched-${index}`;
      await send("POST", deployments, deploymentOf(`patched-${index}`, patches.document));
      const answer = await send("PATCH", url, patch, "application/strategic-merge-patch+json");
      if (message === undefined) expect({ why, result: answer.body }).toMatchObject({ why, result });
      else expect({ why, message: answer.body["message"] }).toEqual({ why, message });
    }
  });

  it("writes of a built-in kind by the schema of its OpenAPI document", async () => {
    const schema = openApiSchemas((await send("GET", "/openapi/v3/apis/apps/v1")).body).get(
      "io.k8s.api.apps.v1.Deployment",
    );
    const url = "/apis/apps/v1/namespaces/default/deployments/applied";
    const first = deploymentOf("applied", patches.document);
    const { containers } = patches.document.spec.template.spec;
    const spec = {
      ...patches.document.spec.template.spec,
      containers: [
        { name: "c9", image: "i9" },
        { ...containers[0], image: "i8" },
      ],
    };
    const second = deploymentOf("applied", {
      ...patches.document,
      spec: { ...patches.document.spec, template: { spec } },
    });
    let live: JsonObject = {};
    for (const [manager, config, force] of [
      ["m1", first, false],
      ["m2", second, false],
      ["m2", second, true],
      ["m1", second, false],
    ] as const) {
      const answer = await send(
        "PATCH",
        `${url}?fieldManager=${manager}&force=${force}`,
        config,
        "application/apply-patch+yaml",
      );
      const writer = { manager, apiVersion: "apps/v1", time: "2026-01-01T00:00:00Z" };
      const actual = applyConfiguration({ live, schema: schema ?? {}, writer }, config, force);
      if (!actual.ok) expect(answer.body["message"]).toBe(actual.error.message);
      else {
        expect(answerOf(actual)["managers"]).toEqual(answerOf(ok(answer.body))["managers"]);
        live = answer.body;
      }
    }
  });

  it("random sequences of writes", async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(writeSequences, async (steps) => {
        const actual = new OneObjectServer(writes.schema as unknown as StructuralSchema);
        count += 1;
        for (const step of steps) {
          const expected = answerOf(await write(send, `random-${count}`, step));
          expect({ step, answer: comparable(answerOf(actual.write(step))) }).toEqual({
            step,
            answer: comparable(expected),
          });
        }
      }),
      { numRuns: sweepSize(40, 2_000) },
    );
  }, 1_200_000);
});

interface RecordedObject {
  readonly why: string;
  readonly object: JsonObject;
  readonly causes?: readonly JsonObject[];
  readonly admitted?: JsonObject;
}

interface RecordedPatch {
  readonly why: string;
  readonly patch: JsonObject;
  readonly result?: object;
  readonly message?: string;
}

interface DeploymentParts {
  readonly metadata: JsonObject;
  readonly spec: JsonObject & { readonly template: JsonObject };
}

/** The recorded document with the required fields of a Deployment. */
function deploymentOf(name: string, { metadata, spec }: DeploymentParts): JsonObject {
  const labels = { app: "patched" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadata, name },
    spec: { ...spec, selector: { matchLabels: labels }, template: { ...spec.template, metadata: { labels } } },
  };
}

interface Scenario {
  readonly why: string;
  readonly steps: readonly (WriteStep & { readonly answer: JsonObject })[];
}

async function write(send: SendRequest, name: string, step: WriteStep): Promise<Result<JsonObject, Status>> {
  const { apply, create, patch, update, force = false, subresource, body } = step;
  const metadata = body["metadata"] as JsonObject | undefined;
  const object: JsonObject = { apiVersion: "probe.test/v1", kind: "Mix", ...body, metadata: { name, ...metadata } };
  const url = `${NAMESPACE}/mixes/${name}${subresource === undefined ? "" : `/${subresource}`}`;
  const sendStep = async (): ReturnType<SendRequest> => {
    if (create !== undefined) return send("POST", `${NAMESPACE}/mixes?fieldManager=${create}`, object);
    if (patch !== undefined) return send("PATCH", `${url}?fieldManager=${patch}`, body, "application/merge-patch+json");
    if (update !== undefined) {
      const { resourceVersion = "" } = (await send("GET", url)).body["metadata"] as JsonObject;
      const updated = { ...object, metadata: { name, ...metadata, resourceVersion } };
      return send("PUT", `${url}?fieldManager=${update}`, updated);
    }
    return send("PATCH", `${url}?fieldManager=${apply}&force=${force}`, object, "application/apply-patch+yaml");
  };
  const answer = await sendStep();
  const error = { ...answer.body, code: answer.code } as unknown as Status;
  if (answer.body["kind"] !== "Status") return ok(answer.body);
  return err({ ...error, message: (error.message ?? "").replaceAll(name, "NAME") });
}

interface RuledObject {
  readonly why: string;
  readonly object: JsonObject;
  readonly old?: JsonObject;
  readonly causes: JsonObject[];
}
