import type { Subject } from "../src/case.ts";
import { ANY, configMap, create, defined, get, merge, remove, replace, thing, things } from "../src/words.ts";

const SEEN = ["[*].type", "[*].object.metadata.name"];

export const watches: Subject = {
  subject: "watches",
  needs: "api",
  cases: [
    {
      name: "each change is an event, in order",
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=1&resourceVersion={rv}" },
        create("configmaps", configMap("a", { x: "1" })),
        merge("configmaps/a", { data: { x: "2" } }),
        remove("configmaps/a"),
        {
          events: "w",
          count: 3,
          want: [{ type: "ADDED" }, { type: "MODIFIED" }, { type: "DELETED", object: { data: { x: "2" } } }],
        },
      ],
    },
    {
      name: "without a version it begins with what is there",
      given: [create("configmaps", configMap("a")), create("configmaps", configMap("b"))],
      steps: [
        { watch: "w", do: "GET configmaps?watch=true" },
        { events: "w", count: 2, unordered: true, show: SEEN },
        create("configmaps", configMap("c")),
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "c" } } }] },
      ],
    },
    {
      name: "from version 0 it begins with what is there as well",
      given: [create("configmaps", configMap("a"))],
      steps: [
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion=0" },
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "a" } } }] },
      ],
    },
    {
      name: "from an old version it tells what was missed",
      given: [],
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        merge("configmaps/a", { data: { x: "2" } }),
        create("configmaps", configMap("b")),
        remove("configmaps/a"),
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion={rv}" },
        { events: "w", count: 3, want: [{ type: "MODIFIED" }, { type: "ADDED" }, { type: "DELETED" }] },
      ],
    },
    {
      name: "the object of a deletion has the version of the deletion",
      steps: [
        create("configmaps", configMap("a"), { save: { rv: "metadata.resourceVersion" } }),
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion={rv}" },
        remove("configmaps/a"),
        { events: "w", count: 1 },
      ],
    },
    {
      name: "a change that changes nothing is no event",
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion={rv}" },
        merge("configmaps/a", { data: { x: "1" } }),
        create("configmaps", configMap("end")),
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "end" } } }] },
      ],
    },
    {
      name: "one that comes into a selector is added, one that leaves it deleted",
      given: [create("configmaps", configMap("a", {}, { labels: { l: "no" } }))],
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=true&labelSelector=l%3Dyes&resourceVersion={rv}" },
        merge("configmaps/a", { metadata: { labels: { l: "yes" } } }),
        merge("configmaps/a", { data: { x: "1" } }),
        merge("configmaps/a", { metadata: { labels: { l: "no" } } }),
        merge("configmaps/a", { data: { x: "2" } }),
        create("configmaps", configMap("end", {}, { labels: { l: "yes" } })),
        {
          events: "w",
          count: 4,
          want: [
            { type: "ADDED" },
            { type: "MODIFIED" },
            { type: "DELETED" },
            { type: "ADDED", object: { metadata: { name: "end" } } },
          ],
        },
      ],
    },
    {
      name: "the object that leaves a selector is shown as it was in it",
      given: [create("configmaps", configMap("a", { x: "1" }, { labels: { l: "yes" } }))],
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=true&labelSelector=l%3Dyes&resourceVersion={rv}" },
        merge("configmaps/a", { metadata: { labels: { l: "no" } }, data: { x: "2" } }),
        { events: "w", count: 1, want: [{ type: "DELETED" }] },
      ],
    },
    {
      name: "one object alone can be watched by its name",
      given: [create("configmaps", configMap("a")), create("configmaps", configMap("b"))],
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=true&fieldSelector=metadata.name%3Db&resourceVersion={rv}" },
        merge("configmaps/a", { data: { x: "1" } }),
        merge("configmaps/b", { data: { x: "1" } }),
        { events: "w", count: 1, want: [{ type: "MODIFIED", object: { metadata: { name: "b" } } }] },
      ],
    },
    {
      name: "one object alone can be watched by the old path",
      given: [create("configmaps", configMap("b"))],
      steps: [
        { watch: "w", do: "GET /api/v1/watch/namespaces/{ns}/configmaps/b" },
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "b" } } }] },
      ],
    },
    {
      name: "a version of the future is waited for, not given",
      steps: [
        get("configmaps?resourceVersion=99999999999&timeoutSeconds=1", { want: 504, show: ["reason", "details"] }),
      ],
    },
    {
      name: "a version that is none",
      steps: [
        get("configmaps?watch=true&resourceVersion=abc", { want: 500 }),
        get("configmaps?resourceVersion=abc", { want: 400 }),
        get("configmaps?resourceVersion=-1", { want: 400 }),
      ],
    },
    {
      name: "it ends after the time that was asked for",
      steps: [
        { watch: "w", do: "GET configmaps?watch=true&timeoutSeconds=1" },
        { events: "w", want: [] },
      ],
    },
    {
      name: "initial events end with a bookmark that says so",
      given: [create("configmaps", configMap("a")), create("configmaps", configMap("b"))],
      steps: [
        {
          watch: "w",
          do: "GET configmaps?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
        },
        { events: "w", count: 3 },
        create("configmaps", configMap("c")),
        { events: "w", count: 1, want: [{ type: "ADDED" }] },
      ],
    },
    {
      name: "initial events need bookmarks and a match",
      steps: [
        get("configmaps?watch=true&sendInitialEvents=true", { want: 422 }),
        get("configmaps?watch=true&resourceVersionMatch=NotOlderThan", { want: 422 }),
        get("configmaps?sendInitialEvents=true", { want: 422 }),
      ],
    },
    {
      name: "initial events can be declined",
      given: [create("configmaps", configMap("a"))],
      steps: [
        {
          watch: "w",
          do: "GET configmaps?watch=true&sendInitialEvents=false&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
        },
        create("configmaps", configMap("b")),
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "b" } } }] },
      ],
    },
    {
      name: "objects of a definition are watched the same way",
      given: defined(things(ANY)),
      steps: [
        get("things", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET things?watch=true&resourceVersion={rv}" },
        create("things", thing("a", { n: 1 })),
        replace("things/a", thing("a", { n: 2 }), { want: 422 }),
        merge("things/a", { spec: { n: 2 } }),
        remove("things/a"),
        { events: "w", count: 3 },
      ],
    },
    {
      name: "events can come as rows of a table",
      given: [create("configmaps", configMap("a"))],
      steps: [
        {
          watch: "w",
          do: "GET configmaps?watch=true",
          accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        },
        {
          events: "w",
          count: 1,
          show: [
            "[*].type",
            "[*].object.kind",
            "[*].object.columnDefinitions[*].name",
            "[*].object.rows[*].object.metadata.name",
          ],
        },
        create("configmaps", configMap("b")),
        { events: "w", count: 1, show: ["[*].type", "[*].object.columnDefinitions", "[*].object.rows[*].cells[0]"] },
      ],
    },
    {
      name: "events can come with metadata only",
      given: [create("configmaps", configMap("a", { x: "1" }))],
      steps: [
        {
          watch: "w",
          do: "GET configmaps?watch=true",
          accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        },
        { events: "w", count: 1 },
      ],
    },
    {
      name: "a finalizer makes a deletion a modification first",
      given: [create("configmaps", configMap("a", {}, { finalizers: ["example.test/stay"] }))],
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion={rv}" },
        remove("configmaps/a", undefined, { show: [] }),
        merge("configmaps/a", { metadata: { finalizers: null } }, { show: [] }),
        { events: "w", count: 2, want: [{ type: "MODIFIED" }, { type: "DELETED" }] },
      ],
    },
  ],
};
