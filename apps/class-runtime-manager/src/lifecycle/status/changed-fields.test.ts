import type { KubeObject } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

function deployment(spec: object, annotations: Record<string, string> = {}): KubeObject {
  const object = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d", uid: "1", annotations }, spec };
  return { ...object, status: { replicas: 1 } } as KubeObject;
}

function podWith(env: readonly object[], image = "a:1"): object {
  return { template: { spec: { containers: [{ name: "fn", image, env }] } } };
}

function configMap(team: string, config: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", labels: { team } },
    data: { config },
  } as KubeObject;
}

const CASES: readonly { why: string; live: KubeObject; rendered: KubeObject; fields: readonly object[] }[] = [
  {
    why: "equal objects have no changes",
    live: deployment(podWith([{ name: "A", value: "1" }])),
    rendered: deployment(podWith([{ name: "A", value: "1" }])),
    fields: [],
  },
  {
    why: "containers and variables are matched by name, whatever their order",
    live: deployment(
      podWith(
        [
          { name: "B", value: "2" },
          { name: "A", value: "1" },
        ],
        "a:1",
      ),
    ),
    rendered: deployment(
      podWith(
        [
          { name: "A", value: "3" },
          { name: "B", value: "2" },
        ],
        "a:2",
      ),
    ),
    fields: [
      { path: ".spec.template.spec.containers[name=fn].image", was: '"a:1"', now: '"a:2"' },
      { path: ".spec.template.spec.containers[name=fn].env[name=A].value", was: '"1"', now: '"3"' },
    ],
  },
  {
    why: "values of secret variables are masked, also in URLs",
    live: deployment(
      podWith([
        { name: "API_TOKEN", value: "old" },
        { name: "DB", value: "pg://u:one@h" },
      ]),
    ),
    rendered: deployment(
      podWith([
        { name: "API_TOKEN", value: "new" },
        { name: "DB", value: "pg://u:two@h" },
      ]),
    ),
    fields: [
      { path: ".spec.template.spec.containers[name=fn].env[name=API_TOKEN].value", was: "(masked)", now: "(masked)" },
      { path: ".spec.template.spec.containers[name=fn].env[name=DB].value", was: "(masked)", now: "(masked)" },
    ],
  },
  {
    why: "the content of a ConfigMap is masked, its metadata is not",
    live: configMap("a", "old"),
    rendered: configMap("b", "new"),
    fields: [
      { path: ".metadata.labels.team", was: '"a"', now: '"b"' },
      { path: ".data.config", was: "(masked)", now: "(masked)" },
    ],
  },
  {
    why: "a new item is listed by its fields",
    live: deployment(podWith([])),
    rendered: deployment(podWith([{ name: "A", value: "1" }])),
    fields: [{ path: ".spec.template.spec.containers[name=fn].env[name=A].value", was: "", now: '"1"' }],
  },
  {
    why: "a removed variable is listed by its fields",
    live: deployment(
      podWith([
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ]),
    ),
    rendered: deployment(podWith([{ name: "B", value: "2" }])),
    fields: [{ path: ".spec.template.spec.containers[name=fn].env[name=A].value", was: '"1"', now: "" }],
  },
  {
    why: "members appear, disappear and change their type",
    live: deployment({ old: { deep: 1 }, list: ["a"], empty: {}, turns: 1 }),
    rendered: deployment({ new: { deep: 2 }, list: ["a", "b"], turns: { into: 2 } }),
    fields: [
      { path: ".spec.old.deep", was: "1", now: "" },
      { path: ".spec.list", was: '"1 item"', now: '"2 items"' },
      { path: ".spec.empty", was: "{}", now: "" },
      { path: ".spec.turns.into", was: "", now: "2" },
      { path: ".spec.new.deep", was: "", now: "2" },
    ],
  },
  {
    why: "bookkeeping is left out",
    live: deployment({}, { hash: "1" }),
    rendered: deployment({}, { hash: "2" }),
    fields: [],
  },
];

for (const { why, live, rendered, fields } of CASES) {
  test(why, () => {
    expect(changedFields(live, rendered, new Set(["hash"])).fields).toEqual(fields);
  });
}

test("counts the fields that are not listed", () => {
  const env = Array.from({ length: 40 }, (_, index) => ({ name: `V${index}`, value: "x" }));
  const { fields, moreFields } = changedFields(deployment(podWith([])), deployment(podWith(env)), new Set());
  expect(fields).toHaveLength(16);
  expect(moreFields).toBe(24);
});
