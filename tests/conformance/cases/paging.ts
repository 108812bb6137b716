import type { Step, Subject } from "../src/case.ts";
import { configMap, create, get, merge, remove } from "../src/words.ts";

const FIVE: readonly Step[] = ["a", "b", "c", "d", "e"].map((name) =>
  create("configmaps", configMap(name, {}, { labels: { odd: name === "b" || name === "d" ? "no" : "yes" } })),
);
const PAGE = ["items[*].metadata.name", "metadata"];

export const paging: Subject = {
  subject: "paging",
  needs: "api",
  cases: [
    {
      name: "pages go through all, in order, each once",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=2", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?limit=2&continue={next}", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?limit=2&continue={next}"), show: PAGE },
      ],
    },
    {
      name: "a limit of all or more is no page",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=5"), show: PAGE },
        { ...get("configmaps?limit=500"), show: PAGE },
        { ...get("configmaps?limit=0"), show: PAGE },
      ],
    },
    {
      name: "later pages show what was there at the first",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=2", { save: { next: "metadata.continue" } }), show: PAGE },
        remove("configmaps/d", undefined, { show: [] }),
        create("configmaps", configMap("dd"), { show: [] }),
        merge("configmaps/e", { data: { x: "new" } }, { show: [] }),
        { ...get("configmaps?limit=9&continue={next}"), show: ["items[*].metadata.name", "items[*].data"] },
      ],
    },
    {
      name: "a page may have another limit than the one before",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=1", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?limit=3&continue={next}", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?continue={next}"), show: PAGE },
      ],
    },
    {
      name: "pages of a selection do not tell how many are left",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=2&labelSelector=odd%3Dyes", { save: { next: "metadata.continue" } }), show: PAGE },
        { ...get("configmaps?limit=2&labelSelector=odd%3Dyes&continue={next}"), show: PAGE },
      ],
    },
    {
      name: "a token that is none",
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
      name: "a token whose versions are compacted away is gone, with a way to go on",
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
      name: "a version beside a token",
      given: FIVE,
      steps: [
        { ...get("configmaps?limit=2", { save: { next: "metadata.continue" } }), show: PAGE },
        get("configmaps?limit=2&resourceVersion=5&continue={next}", { want: 400 }),
      ],
    },
    {
      name: "an exact version shows the past",
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        merge("configmaps/a", { data: { x: "2" } }),
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
      name: "a match needs a version, and must be one",
      steps: [
        get("configmaps?resourceVersionMatch=Exact", { want: 422 }),
        get("configmaps?resourceVersionMatch=Maybe&resourceVersion=1", { want: 422 }),
        get("configmaps?resourceVersionMatch=Exact&resourceVersion=0", { want: 422 }),
      ],
    },
    {
      name: "a limit that is no number",
      given: FIVE,
      steps: [
        get("configmaps?limit=many", { want: 400 }),
        get("configmaps?limit=-1", { show: ["items[*].metadata.name"] }),
      ],
    },
  ],
};
