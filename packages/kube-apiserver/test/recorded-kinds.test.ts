import { virtualAmbient } from "@oaas/foundation/virtual";
import { describeWith, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import { bootstrapRoles } from "../src/access/authorization/bootstrap-roles.ts";
import { embeddedServer } from "../src/embedded.ts";
import { KIND_DATA } from "../src/kinds/built-in/kind-data.ts";
import access from "../testdata/recorded/access.json" with { type: "json" };
import answers from "../testdata/recorded/kind-answers.json" with { type: "json" };
import limits from "../testdata/recorded/limits.json" with { type: "json" };
import tables from "../testdata/recorded/tables.json" with { type: "json" };
import { recordAccess } from "./recording/access-answers.ts";
import { readBootstrapRoles } from "./recording/bootstrap-roles.ts";
import { CATALOGUE } from "./recording/catalogue.ts";
import { recordKindAnswers } from "./recording/kind-answers.ts";
import { readKindData } from "./recording/kind-data.ts";
import { recordLimits } from "./recording/limit-answers.ts";
import { createRecorder, type SendRequest } from "./recording/real-server.ts";
import { recordTables } from "./recording/table-answers.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

describeWith(["kubernetes", "etcd"], "the recording of kinds matches the real server", () => {
  let cluster: KubernetesUnderTest;
  let send: SendRequest;
  beforeAll(async () => {
    cluster = await startKubernetes();
    send = createRecorder(cluster);
  });
  afterAll(() => cluster?.close());

  it("schemas and discovery", async () => {
    const read = async (path: string): Promise<JsonObject> => (await send("GET", path)).body;
    // Facts from the Go types are taken from the recording: the cases below would show a change.
    const { goMarks: marks, goNames: names } = KIND_DATA;
    expect(await readKindData(read, { marks, names })).toEqual(KIND_DATA);
  });

  it("returned objects and errors", async () => {
    const normalise = (cases: readonly { of: string; why: string; answer: unknown }[]): unknown =>
      cases.map(({ of, why, answer }) => ({ of, why, answer: withoutRun(answer) }));
    expect(normalise(await recordKindAnswers(send))).toEqual(normalise(answers.cases));
  });

  it("table rows", async () => {
    const normaliseRows = (
      rows: readonly { of: string; why: string; cells: readonly unknown[]; columns: unknown }[],
    ): unknown => rows.map(({ of, why, cells, columns }) => ({ of, why, columns, cells: withoutRun(cells) }));
    expect(normaliseRows(await recordTables(send))).toEqual(normaliseRows(tables.rows));
  });

  it("permissions of the bootstrap roles", async () => {
    expect(await readBootstrapRoles(send)).toEqual(bootstrapRoles());
    expect(await recordAccess(send)).toEqual(access.cases);
  });

  it("effects of limit ranges", async () => {
    expect(withoutRun(await recordLimits(send))).toEqual(withoutRun(limits.cases));
  });

  it("discovery of the embedded server", async () => {
    const { clock, timers, ids } = virtualAmbient(1);
    const { server } = embeddedServer({ clock, timers, ids });
    await server.start();
    const getEmbedded = async (target: string, accept = "application/json"): Promise<JsonObject> => {
      const request = { method: "GET", target, headers: { accept }, body: "", signal: new AbortController().signal };
      return JSON.parse((await server.handle(request)).body as string) as JsonObject;
    };
    for (const groupVersion of Object.keys(CATALOGUE)) {
      const path = groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`;
      const { resources } = await getEmbedded(path);
      const names = new Set((resources as unknown as readonly { name: string }[]).map(({ name }) => name));
      const { body } = await send("GET", path);
      const expected = (body["resources"] as unknown as readonly { name: string }[]).filter(({ name }) =>
        names.has(name),
      );
      expect({ path, resources }).toEqual({ path, resources: expected });
    }
    const expected = (await send("GET", "/apis", { accept: AGGREGATED })).body["items"];
    const actual = (await getEmbedded("/apis", AGGREGATED))["items"] as unknown as readonly {
      metadata: { name: string };
    }[];
    const order = (expected as unknown as typeof actual).map(({ metadata }) => metadata.name);
    expect(actual.map(({ metadata }) => metadata.name)).toEqual(
      order.filter((name) => actual.some((each) => each.metadata.name === name)),
    );
    await server.close();
  });
});

/** Removes values that depend on the run: times, ids, addresses, and Go's formatting of whole structs. */
function withoutRun(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
    .replaceAll(/10\.0\.0\.\d+/g, "<ip>")
    .replaceAll(/\b\d+[ydhms](?:\d+[dhms])?\b/g, "<age>");
  // Go reports several errors in random order.
  return JSON.parse(text, (name, each: unknown) =>
    name === "causes" && Array.isArray(each)
      ? each.map((cause) => JSON.stringify(cause)).toSorted()
      : name === "message" && typeof each === "string"
        ? each.split(/, |\[|\]/).toSorted()
        : each,
  );
}
