import type { KubeObject } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { changedFields } from "./changed-fields.ts";

const MANAGER = "us";

function deployment(spec: object, owned: object = {}, annotations: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: "d",
      annotations,
      managedFields: [{ manager: MANAGER, operation: "Apply", fieldsV1: owned }],
    },
    spec,
  } as KubeObject;
}

function podWith(env: readonly object[], image = "a:1"): object {
  return { template: { spec: { containers: [{ name: "fn", image, env }] } } };
}

const CASES: readonly { why: string; live: KubeObject; rendered: KubeObject; fields: readonly object[] }[] = [
  {
    why: "equal objects have no changes, and defaults of the server are no changes",
    live: deployment({ ...podWith([{ name: "A", value: "1" }]), progressDeadlineSeconds: 600 }),
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
    why: "equal quantities in another form are no change",
    live: deployment({ requests: { cpu: "200m", memory: "1Gi" } }),
    rendered: deployment({ requests: { cpu: "0.2", memory: "2Gi" } }),
    fields: [{ path: ".spec.requests.memory", was: '"1Gi"', now: '"2Gi"' }],
  },
  {
    why: "a new item is listed by its fields",
    live: deployment(podWith([])),
    rendered: deployment(podWith([{ name: "A", value: "1" }])),
    fields: [{ path: ".spec.template.spec.containers[name=fn].env[name=A].value", was: "", now: '"1"' }],
  },
  {
    why: "a field that we applied and render no longer is removed",
    live: deployment(
      podWith([
        { name: "A", value: "1" },
        { name: "OTHER", value: "kept" },
      ]),
      {
        "f:spec": {
          "f:template": {
            "f:spec": {
              "f:containers": { 'k:{"name":"fn"}': { ".": {}, "f:name": {}, "f:env": { 'k:{"name":"A"}': {} } } },
            },
          },
        },
      },
    ),
    rendered: deployment(podWith([])),
    fields: [{ path: ".spec.template.spec.containers[name=fn].env[name=A].value", was: '"1"', now: "" }],
  },
  {
    why: "an annotation that we applied and render no longer is removed, and one of another manager stays",
    live: deployment({}, { "f:metadata": { "f:annotations": { "f:ours": {} } } }, { ours: "1", theirs: "2" }),
    rendered: deployment({}),
    fields: [{ path: ".metadata.annotations.ours", was: '"1"', now: "" }],
  },
  {
    why: "bookkeeping is left out",
    live: deployment({}, { "f:metadata": { "f:annotations": { "f:hash": {} } } }, { hash: "1" }),
    rendered: deployment({}, {}, { hash: "2" }),
    fields: [],
  },
];

for (const { why, live, rendered, fields } of CASES) {
  test(why, () => {
    expect(changedFields(live, rendered, MANAGER, new Set(["hash"])).fields).toEqual(fields);
  });
}

test("counts the fields that are not listed", () => {
  const env = Array.from({ length: 40 }, (_, index) => ({ name: `V${index}`, value: "x" }));
  const { fields, moreFields } = changedFields(deployment(podWith([])), deployment(podWith(env)), MANAGER);
  expect(fields).toHaveLength(16);
  expect(moreFields).toBe(24);
});
