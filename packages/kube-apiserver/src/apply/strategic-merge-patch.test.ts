import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import recorded from "../../testdata/recorded/strategic-merge-patches.json" with { type: "json" };
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

interface Case {
  readonly why: string;
  readonly patch: JsonObject;
  readonly result?: JsonObject;
  readonly message?: string;
}

const schema = recorded.schema as unknown as StructuralSchema;
const document = recorded.document as unknown as JsonObject;
const cases = recorded.cases as unknown as readonly Case[];

/** The server omits empty members when it reads its own kinds. */
function withoutEmpty(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member: unknown) => {
      const isNothing = name === "labels" && Object.keys(member as object).length === 0;
      return isNothing ? undefined : member;
    }),
  );
}

describe("matches recorded server responses", () => {
  test.each(cases)("$why", ({ patch, result, message }) => {
    const answer = applyStrategicMergePatch(document, patch, schema);
    if (!answer.ok) expect(answer.error.message).toBe(message);
    else expect(withoutEmpty(answer.value)).toEqual(result);
  });
});

const names = fc.constantFrom("c1", "c2", "c3", "c4");
const containers = fc.uniqueArray(
  fc.record({ name: names, image: fc.constantFrom("i1", "i2") }, { requiredKeys: ["name"] }),
  {
    selector: ({ name }) => name,
  },
);
const patches = fc
  .record(
    {
      metadata: fc.record(
        {
          labels: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("1", "2", null)),
          finalizers: fc.uniqueArray(fc.constantFrom("a.b/c", "a.b/d")),
        },
        { requiredKeys: [] },
      ),
      spec: fc.record({ template: fc.record({ spec: fc.record({ containers }) }) }),
    },
    { requiredKeys: [] },
  )
  .map((patch) => patch as unknown as JsonObject);

function patched(live: JsonObject, patch: JsonObject): JsonObject {
  const result = applyStrategicMergePatch(live, patch, schema);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

test("an empty patch changes nothing", () => {
  expect(patched(document, {})).toEqual(document);
});

test("patching is idempotent", () => {
  fc.assert(
    fc.property(patches, patches, (first, second) => {
      const once = patched(patched(document, first), second);
      expect(patched(once, second)).toEqual(once);
    }),
  );
});

test("contains every existing or patched item once", () => {
  const namesOf = (object: JsonObject): readonly string[] =>
    (
      object as { spec?: { template?: { spec?: { containers?: { name: string }[] } } } }
    ).spec?.template?.spec?.containers?.map(({ name }) => name) ?? [];
  fc.assert(
    fc.property(patches, (patch) => {
      const after = namesOf(patched(document, patch));
      expect(new Set(after).size).toBe(after.length);
      expect(new Set(after)).toEqual(new Set([...namesOf(document), ...namesOf(patch)]));
    }),
  );
});
