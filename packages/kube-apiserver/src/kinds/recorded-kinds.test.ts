import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonObject } from "@oaas/kube-core";
import { withoutNoise, type RecordedAnswer, type RecordedCase } from "../../test/recording/kind-answers.ts";
import recorded from "../../testdata/recorded/kind-answers.json" with { type: "json" };
import { textAt } from "./json-access.ts";
import { builtInKinds } from "./built-in/built-in-kinds.ts";
import { admitCreate, admitUpdate } from "./testing/admit.ts";

const CASES = recorded.cases as unknown as readonly RecordedCase[];

describe("matches recorded objects and errors of the real server", () => {
  for (const of of new Set(CASES.map((each) => each.of))) {
    it(of, () => {
      const cases = CASES.filter((each) => each.of === of);
      const actual = cases.map(({ why, live, sent }) => ({
        why,
        ...normalizeAnswer(live === undefined ? admitCreate(of, sent) : admitUpdate(of, sent, live)),
      }));
      expect(actual).toEqual(cases.map(({ why, answer }) => ({ why, ...normalizeAnswer(answer) })));
    });
  }
});

it("reads objects of the real server without adding defaults", () => {
  const kinds = new Map(
    builtInKinds().flatMap((kind) =>
      kind.versions.map((version) => [`${kind.group}/${version.name}/${kind.kind}`, kind]),
    ),
  );
  for (const { of, why, answer } of CASES) {
    if (!("object" in answer)) continue;
    const { object } = JSON.parse(JSON.stringify(answer).replaceAll('"<port>"', "30000")) as { object: JsonObject };
    const apiVersion = textAt(object, "apiVersion");
    const rules = kinds.get(`${apiVersion.includes("/") ? "" : "/"}${apiVersion}/${textAt(object, "kind")}`)?.rules;
    const read = rules?.decode(object);
    expect({ of, why, read }).toEqual({ of, why, read: { ok: true, value: object } });
    expect({ of, why, object: rules?.applyDefaults(object) }).toEqual({ of, why, object });
  }
});

/** Removes values that depend on the run or the address range, and Go's formatting of whole structs. */
function normalizeAnswer(answer: RecordedAnswer): object {
  if ("object" in answer) return { object: withoutTimes(withoutNoise(answer.object)) };
  const { code, message, causes } = answer;
  const normalise = (text: string): string =>
    text
      .split("\n")[0]!
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>")
      .replaceAll(/(Invalid|Unsupported|Duplicate) value: \{.*\}(: |$)/g, "$1 value: {…}$2")
      .replaceAll(/10\.0\.0\.0\/\d+/g, "<range>");
  const list = Array.isArray(causes) ? (causes as { field?: string; message: string; reason: string }[]) : undefined;
  if (list === undefined) return { code, message: normalise(message) };
  // The real server reports some causes twice.
  const lines = new Set(list.map((cause) => `${cause.reason} ${cause.field}: ${normalise(cause.message)}`));
  return { code, causes: [...lines].sort() };
}

function withoutTimes(object: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(object, (_, value: unknown) => {
      if (!isJsonObject(value)) return value;
      const { lastTransitionTime: _transition, lastPhaseTransitionTime: _phase, ...rest } = value;
      return rest;
    }),
  ) as JsonObject;
}
