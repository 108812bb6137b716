import { expect, it } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import type { RecordedLimit } from "../../../../test/recording/limit-answers.ts";
import recorded from "../../../../testdata/recorded/limits.json" with { type: "json" };
import { admitCreate } from "../../testing/admit.ts";

const CASES = recorded.cases as unknown as readonly RecordedLimit[];

it.each(CASES)("applies LimitRanges: $why", ({ limits, of, sent, answer }) => {
  const actual = admitCreate(of, sent, {
    objects: ({ resource }) => (resource === "limitranges" ? [{ spec: { limits } }] : []),
  });
  expect(omitGenerated(actual)).toEqual(omitGenerated(answer));
});

/** Namespaces and ids come from the recording. */
function omitGenerated(answer: object): unknown {
  return JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => (["namespace", "uid"].includes(name) ? undefined : value)),
  );
}

it("a quota counts existing objects of the kind", () => {
  const quota = {
    metadata: { name: "q", namespace: "default" },
    spec: { hard: { configmaps: "1", "count/configmaps": "5" } },
  };
  const existing: Record<string, JsonObject[]> = { resourcequotas: [quota], configmaps: [{ metadata: { name: "x" } }] };
  const sent = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  expect(admitCreate("v1/configmaps", sent, { objects: ({ resource }) => existing[resource] ?? [] })).toEqual({
    code: 403,
    message:
      'configmaps "a" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
  });
});
