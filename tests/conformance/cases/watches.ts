import type { Subject } from "../src/case.ts";
import {
  ANY_OBJECT,
  configMap,
  create,
  installDefinition,
  get,
  mergePatch,
  remove,
  replace,
  thing,
  thingDefinition,
} from "../src/case-steps.ts";

const SEEN = ["[*].type", "[*].object.metadata.name"];

export const watches: Subject = {
  subject: "watches",
  needs: "api",
  cases: [
    {
      name: "sends an event for each change, in order",
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=1&resourceVersion={rv}" },
        create("configmaps", configMap("a", { x: "1" })),
        mergePatch("configmaps/a", { data: { x: "2" } }),
        remove("configmaps/a"),
        {
          events: "w",
          count: 3,
          want: [{ type: "ADDED" }, { type: "MODIFIED" }, { type: "DELETED", object: { data: { x: "2" } } }],
        },
      ],
    },
    {
      name: "starts with existing objects without a version",
      given: [create("configmaps", configMap("a")), create("configmaps", configMap("b"))],
      steps: [
        { watch: "w", do: "GET configmaps?watch=true" },
        { events: "w", count: 2, unordered: true, show: SEEN },
        create("configmaps", configMap("c")),
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "c" } } }] },
      ],
    },
    {
      name: "starts with existing objects from version 0",
      given: [create("configmaps", configMap("a"))],
      steps: [
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion=0" },
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "a" } } }] },
      ],
    },
    {
      name: "sends missed events from an old version",
      given: [],
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        mergePatch("configmaps/a", { data: { x: "2" } }),
        create("configmaps", configMap("b")),
        remove("configmaps/a"),
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion={rv}" },
        { events: "w", count: 3, want: [{ type: "MODIFIED" }, { type: "ADDED" }, { type: "DELETED" }] },
      ],
    },
    {
      name: "a deleted object has the version of the deletion",
      steps: [
        create("configmaps", configMap("a"), { save: { rv: "metadata.resourceVersion" } }),
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion={rv}" },
        remove("configmaps/a"),
        { events: "w", count: 1 },
      ],
    },
    {
      name: "sends no event for a write without changes",
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion={rv}" },
        mergePatch("configmaps/a", { data: { x: "1" } }),
        create("configmaps", configMap("end")),
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "end" } } }] },
      ],
    },
    {
      name: "sends ADDED when an object enters the selector and DELETED when it leaves",
      given: [create("configmaps", configMap("a", {}, { labels: { l: "no" } }))],
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=true&labelSelector=l%3Dyes&resourceVersion={rv}" },
        mergePatch("configmaps/a", { metadata: { labels: { l: "yes" } } }),
        mergePatch("configmaps/a", { data: { x: "1" } }),
        mergePatch("configmaps/a", { metadata: { labels: { l: "no" } } }),
        mergePatch("configmaps/a", { data: { x: "2" } }),
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
      name: "sends the last matching state of an object that leaves the selector",
      given: [create("configmaps", configMap("a", { x: "1" }, { labels: { l: "yes" } }))],
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=true&labelSelector=l%3Dyes&resourceVersion={rv}" },
        mergePatch("configmaps/a", { metadata: { labels: { l: "no" } }, data: { x: "2" } }),
        { events: "w", count: 1, want: [{ type: "DELETED" }] },
      ],
    },
    {
      name: "watches one object by name",
      given: [create("configmaps", configMap("a")), create("configmaps", configMap("b"))],
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=true&fieldSelector=metadata.name%3Db&resourceVersion={rv}" },
        mergePatch("configmaps/a", { data: { x: "1" } }),
        mergePatch("configmaps/b", { data: { x: "1" } }),
        { events: "w", count: 1, want: [{ type: "MODIFIED", object: { metadata: { name: "b" } } }] },
      ],
    },
    {
      name: "watches one object by the deprecated path",
      given: [create("configmaps", configMap("b"))],
      steps: [
        { watch: "w", do: "GET /api/v1/watch/namespaces/{ns}/configmaps/b" },
        { events: "w", count: 1, want: [{ type: "ADDED", object: { metadata: { name: "b" } } }] },
      ],
    },
    {
      name: "waits for a future version",
      steps: [
        get("configmaps?resourceVersion=99999999999&timeoutSeconds=1", { want: 504, show: ["reason", "details"] }),
      ],
    },
    {
      name: "rejects an invalid version",
      steps: [
        get("configmaps?watch=true&resourceVersion=abc", { want: 500 }),
        get("configmaps?resourceVersion=abc", { want: 400 }),
        get("configmaps?resourceVersion=-1", { want: 400 }),
      ],
    },
    {
      name: "ends after timeoutSeconds",
      steps: [
        { watch: "w", do: "GET configmaps?watch=true&timeoutSeconds=1" },
        { events: "w", want: [] },
      ],
    },
    {
      name: "ends initial events with an annotated bookmark",
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
      name: "initial events require bookmarks and resourceVersionMatch",
      steps: [
        get("configmaps?watch=true&sendInitialEvents=true", { want: 422 }),
        get("configmaps?watch=true&resourceVersionMatch=NotOlderThan", { want: 422 }),
        get("configmaps?sendInitialEvents=true", { want: 422 }),
      ],
    },
    {
      name: "sendInitialEvents=false omits initial events",
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
      name: "watches custom objects",
      given: installDefinition(thingDefinition(ANY_OBJECT)),
      steps: [
        get("things", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET things?watch=true&resourceVersion={rv}" },
        create("things", thing("a", { n: 1 })),
        replace("things/a", thing("a", { n: 2 }), { want: 422 }),
        mergePatch("things/a", { spec: { n: 2 } }),
        remove("things/a"),
        { events: "w", count: 3 },
      ],
    },
    {
      name: "sends events as table rows",
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
      name: "sends events with metadata only",
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
      name: "a deletion with a finalizer sends MODIFIED first",
      given: [create("configmaps", configMap("a", {}, { finalizers: ["example.test/stay"] }))],
      steps: [
        get("configmaps", { save: { rv: "metadata.resourceVersion" }, show: [] }),
        { watch: "w", do: "GET configmaps?watch=true&resourceVersion={rv}" },
        remove("configmaps/a", undefined, { show: [] }),
        mergePatch("configmaps/a", { metadata: { finalizers: null } }, { show: [] }),
        { events: "w", count: 2, want: [{ type: "MODIFIED" }, { type: "DELETED" }] },
      ],
    },
  ],
};
