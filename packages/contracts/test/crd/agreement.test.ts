import { describeWith, sweepSize, type KubernetesUnderTest } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KINDS } from "../../src/crd/index.ts";
import {
  classRuntimeSample,
  environmentSample,
  fullRecord,
  templateSample,
  UPSTREAM_CLASS_RUNTIME,
} from "../../src/crd/testing/samples.ts";
import { createRaw, startWithCrds } from "./api-server.ts";

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const SAMPLES = [
  classRuntimeSample,
  fullRecord,
  templateSample,
  environmentSample,
  JSON.parse(UPSTREAM_CLASS_RUNTIME) as object,
].map((sample) => JSON.parse(JSON.stringify(sample)) as { kind: string; spec: Json });

/** Every place in a document that can be changed. */
function places(value: Json, path: readonly (string | number)[]): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const members: [string | number, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...members.flatMap(([name, member]) => places(member, [...path, name]))];
}

/** The document with another value at one place; undefined takes the member away. */
function changed(
  document: Json,
  [first, ...rest]: readonly (string | number)[],
  value: Json | undefined,
): Json | undefined {
  if (first === undefined) return value;
  const copy = structuredClone(document) as Record<string | number, Json>;
  const inner = changed(copy[first] as Json, rest, value);
  if (inner !== undefined) copy[first] = inner;
  else if (Array.isArray(copy)) copy.splice(first as number, 1);
  else delete copy[first];
  return copy;
}

const VALUES: readonly (Json | undefined)[] = [
  undefined,
  "",
  "x y",
  "a",
  "A_b",
  "5",
  "1Gi",
  "-1",
  "2025-08-14T12:34:56Z",
  "/a",
  "a".repeat(300),
  -1,
  0,
  1,
  1.5,
  99999,
  2 ** 33,
  true,
  false,
  [],
  ["a"],
  ["a", "a"],
  [1],
  {},
  { a: "b" },
  { name: "a" },
];

const change = fc.constantFrom(...SAMPLES).chain((sample) =>
  fc.tuple(fc.constantFrom(...places(sample.spec, ["spec"])), fc.constantFrom(...VALUES)).map(([path, value]) => ({
    path,
    value,
    document: changed(sample as unknown as Json, path, value) as { kind: string },
  })),
);

describeWith(["kubernetes", "etcd", "kubectl"], "server and code", () => {
  let cluster: KubernetesUnderTest;

  beforeAll(async () => {
    cluster = await startWithCrds();
  });
  afterAll(async () => {
    await cluster?.close();
  });

  test("agree on any change of a valid object", async () => {
    const verdicts = { taken: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(change, async ({ document, path, value }) => {
        // The API server does not look at the type of a list where text with a format is wanted.
        fc.pre(!(Array.isArray(value) && path.at(-1) === "created_at"));
        const ours = KINDS.find(({ kind }) => kind === document.kind)!.schema.safeParse(document);
        const { status, body } = await createRaw(cluster, JSON.stringify(document));
        const why = `${path.join(".")} = ${JSON.stringify(value)}: server ${status} ${body.message ?? ""}, code ${ours.error?.message ?? "fine"}`;
        verdicts[ours.success ? "taken" : "refused"] += 1;
        expect(status === 201, why).toBe(ours.success);
      }),
      { numRuns: sweepSize(500, 10_000) },
    );
    // Agreement is worth something only when both verdicts are common.
    expect(Math.min(verdicts.taken, verdicts.refused)).toBeGreaterThan(50);
  }, 600_000);
});
