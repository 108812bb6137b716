import type { Step, Subject } from "../src/case.ts";
import { configMap, create, get, mergePatch, remove } from "../src/case-steps.ts";

const FIVE: readonly Step[] = ["a", "b", "c", "d", "e"].map((name) =>
  create("configmaps", configMap(name, {}, { labels: { odd: name === "b" || name === "d" ? "no" : "yes" } })),
);
const PAGE = ["items[*].metadata.name", "metadata"];

export const paging: Subject = {
  subject: "paging",
  needs: "api",
  cases: [
    {
      name: "pages contain every object once, in order",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=2", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?limit=2&continue={next}", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?limit=2&continue={next}"), show: PAGE },
      ],
    },
    {
      name: "a limit of all or more returns no continue token",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=5"), show: PAGE },
        { ...get("configmaps?limit=500"), show: PAGE },
        { ...get("configmaps?limit=0"), show: PAGE },
      ],
    },
    {
      name: "later pages show the snapshot of the first",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=2", { save: { next: "metadata.continue" } }), show: PAGE },
        remove("configmaps/d", undefined, { show: [] }),
        create("configmaps", configMap("dd"), { show: [] }),
        mergePatch("configmaps/e", { data: { x: "new" } }, { show: [] }),
        { ...get("configmaps?limit=9&continue={next}"), show: ["items[*].metadata.name", "items[*].data"] },
      ],
    },
    {
      name: "pages may have different limits",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=1", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?limit=3&continue={next}", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?continue={next}"), show: PAGE },
      ],
    },
    {
      name: "pages of a selection omit remainingItemCount",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=2&labelSelector=odd%3Dyes", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?limit=2&labelSelector=odd%3Dyes&continue={next}"), show: PAGE },
      ],
    },
    {
      name: "rejects an invalid continue token",
      given: FIVE,
      steps: [
        get("configmaps?limit=2&continue=nonsense", { want: 400 }),
        get("configmaps?limit=2&continue=%25", { want: 400 }),
        get(
          `configmaps?limit=2&continue=${Buffer.from('{"v":"meta.k8s.io/v9","rv":1,"start":"x"}').toString("base64url")}`,
          { want: 400 },
        ),
      ],
    },
    {
      name: "an expired continue token returns 410 with a new token",
      given: FIVE,
      steps: [
        get(
          `configmaps?limit=2&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"b\\u0000"}').toString("base64url")}`,
          {
            want: [200, { kind: "ConfigMapList" }],
            show: ["kind"],
          },
        ),
      ],
    },
    {
      name: "rejects a version with a continue token",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=2", { save: { next: "metadata.continue" } }), show: PAGE },
        get("configmaps?limit=2&resourceVersion=5&continue={next}", { want: 400 }),
      ],
    },
    {
      name: "an exact version returns past objects",
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        mergePatch("configmaps/a", { data: { x: "2" } }),
        create("configmaps", configMap("b")),
        {
          ...get("configmaps?resourceVersion={rv}&resourceVersionMatch=Exact"),
          show: ["items[*].metadata.name", "items[*].data"],
        },
        {
          ...get("configmaps?resourceVersion={rv}&resourceVersionMatch=NotOlderThan"),
          show: ["items[*].metadata.name", "items[*].data"],
        },
      ],
    },
    {
      name: "resourceVersionMatch requires a version and a known value",
      steps: [
        get("configmaps?resourceVersionMatch=Exact", { want: 422 }),
        get("configmaps?resourceVersionMatch=Maybe&resourceVersion=1", { want: 422 }),
        get("configmaps?resourceVersionMatch=Exact&resourceVersion=0", { want: 422 }),
      ],
    },
    {
      name: "rejects a limit that is not a number",
      given: FIVE,
      steps: [
        get("configmaps?limit=many", { want: 400 }),
        get("configmaps?limit=-1", { show: ["items[*].metadata.name"] }),
      ],
    },
  ],
};
