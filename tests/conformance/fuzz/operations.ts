import fc from "fast-check";
import type { JsonObject, JsonValue } from "@oaas/kube-core";

/**
 * Kinds that sequences write: a plain one, one with spec, status and scale, and a custom one with every kind of list.
 */
export type FuzzKind = "configmaps" | "deployments" | "mixes";

/** One operation of one of three managers. */
export interface Operation {
  readonly op:
    | "create"
    | "update"
    | "merge"
    | "strategic"
    | "json"
    | "apply"
    | "scale"
    | "delete"
    | "deleteMany"
    | "get"
    | "list";
  readonly kind: FuzzKind;
  readonly name: string;
  readonly manager: string;
  /** The body besides apiVersion, kind and name. */
  readonly body: JsonValue;
  readonly subresource?: "status";
  readonly force?: boolean;
  readonly isDryRun?: boolean;
  readonly validation?: "Strict" | "Warn" | "Ignore";
  /** The resource version sent with it. */
  readonly version?: "current" | "first";
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  readonly selector?: string;
}

export interface Sequence {
  readonly operations: readonly Operation[];
  /** The kind whose events are compared as well. */
  readonly watched?: FuzzKind;
}

const optional = { requiredKeys: [] };
const text = fc.constantFrom("1", "2");
const key = fc.constantFrom("x", "y", "z");
const texts = fc.dictionary(key, text, { maxKeys: 3 });
const sometimesNull = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null, freq: 9 });

const metadata = fc.record(
  {
    labels: texts,
    annotations: texts,
    finalizers: fc.uniqueArray(fc.constantFrom("example.test/a", "example.test/b"), { maxLength: 2 }),
  },
  optional,
);

const maps = fc.record({ data: sometimesNull(texts), immutable: fc.constant(false) }, optional);

const containers = fc.uniqueArray(
  fc.record(
    {
      name: fc.constantFrom("main", "side"),
      image: fc.constantFrom("example.test/web:1", "example.test/web:2"),
      env: fc.uniqueArray(fc.record({ name: fc.constantFrom("A", "B"), value: text }), {
        selector: ({ name }) => name,
      }),
      ports: fc.uniqueArray(
        fc.record(
          {
            containerPort: fc.constantFrom(80, 443),
            protocol: fc.constantFrom("TCP", "UDP"),
            name: fc.constantFrom("p", "q"),
          },
          { requiredKeys: ["containerPort"] },
        ),
        { selector: ({ containerPort }) => containerPort, maxLength: 2 },
      ),
      args: fc.array(text, { maxLength: 2 }),
    },
    { requiredKeys: ["name"] },
  ),
  { selector: ({ name }) => name, maxLength: 2 },
);

const deployments = fc.record(
  {
    spec: fc.record(
      {
        replicas: fc.integer({ min: -1, max: 3 }),
        minReadySeconds: fc.constantFrom(0, 5),
        paused: fc.boolean(),
        strategy: fc.constantFrom<JsonObject>({ type: "Recreate" }, { rollingUpdate: { maxSurge: 2 } }),
        template: fc.record({ spec: fc.record({ containers }, optional) }, optional),
        unknown: fc.constant(1),
      },
      optional,
    ),
  },
  optional,
);

const mixes = fc.record(
  {
    spec: fc.record(
      {
        a: sometimesNull(text),
        b: fc.constantFrom<JsonValue>(1, 2, 9, "wrong"),
        replicas: fc.integer({ min: 0, max: 3 }),
        o: fc.record({ x: text, y: text }, optional),
        atomic: fc.array(text, { maxLength: 2 }),
        set: fc.array(key, { maxLength: 3 }),
        list: fc.array(fc.record({ k: key, v: text }, { requiredKeys: ["k"] }), { maxLength: 2 }),
        any: fc.oneof(text, texts, fc.array(texts, { maxLength: 2 })),
        unknown: text,
      },
      optional,
    ),
  },
  optional,
);

const statuses = {
  deployments: fc.record({
    status: fc.record({ replicas: fc.constantFrom(1, 2), observedGeneration: fc.constantFrom(1, 2) }, optional),
  }),
  mixes: fc.record({ status: fc.record({ ready: fc.boolean(), replicas: fc.constantFrom(1, 2) }, optional) }),
};

const contents: Readonly<Record<FuzzKind, fc.Arbitrary<JsonObject>>> = {
  configmaps: maps,
  deployments: deployments,
  mixes: mixes,
};

/** A body without name: content, and sometimes metadata. */
function bodies(kind: FuzzKind): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(contents[kind], fc.option(metadata, { freq: 2 }))
    .map(([content, meta]) => ({ ...content, ...(meta === null ? {} : { metadata: meta }) }));
}

const paths: Readonly<Record<FuzzKind, readonly string[]>> = {
  configmaps: ["/data", "/data/x", "/data/y", "/metadata/labels", "/metadata/labels/x", "/metadata/finalizers"],
  deployments: ["/spec/replicas", "/spec/template/spec/containers/0/image", "/spec/paused", "/metadata/labels/x"],
  mixes: ["/spec/a", "/spec/b", "/spec/set", "/spec/set/0", "/spec/list/-", "/spec/o/x", "/metadata/labels"],
};

function jsonPatches(kind: FuzzKind): fc.Arbitrary<JsonValue> {
  const path = fc.constantFrom(...paths[kind]);
  const value = fc.constantFrom<JsonValue>("1", 2, true, { x: "1" }, ["x"], null);
  return fc.array(
    fc.oneof(
      fc.record({ op: fc.constantFrom("add", "replace", "test"), path, value }),
      fc.record({ op: fc.constant("remove"), path }),
      fc.record({ op: fc.constantFrom("copy", "move"), from: path, path }),
    ),
    { minLength: 1, maxLength: 3 },
  );
}

const who = {
  name: fc.constantFrom("a", "b"),
  manager: fc.constantFrom("m1", "m2", "m3"),
};
const flags = {
  isDryRun: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  validation: fc.constantFrom<"Strict" | "Warn" | "Ignore">("Warn", "Ignore", "Strict"),
};
const versions = fc.option(fc.constantFrom<"current" | "first">("current", "first"), { nil: undefined, freq: 2 });

function operations(kind: FuzzKind): fc.Arbitrary<Operation> {
  const common = { kind: fc.constant(kind), ...who };
  const body = bodies(kind);
  const write = (op: Operation["op"], weight: number, members: object): fc.WeightedArbitrary<Operation> => ({
    weight,
    arbitrary: fc.record({ op: fc.constant(op), ...common, ...flags, ...members }) as fc.Arbitrary<Operation>,
  });
  const status = kind === "configmaps" ? undefined : statuses[kind];
  const subresource = fc.constant("status" as const);
  return fc.oneof(
    write("create", 3, { body }),
    write("update", 3, { body, version: versions }),
    write("merge", 3, { body, version: versions }),
    write("strategic", kind === "mixes" ? 1 : 3, { body }),
    write("json", 2, { body: jsonPatches(kind) }),
    write("apply", 8, { body, force: fc.boolean() }),
    write("delete", 2, {
      body: fc.constant(null),
      version: versions,
      propagation: fc.option(fc.constantFrom("Background", "Foreground", "Orphan"), { nil: undefined }),
    }),
    write("deleteMany", 1, { body: fc.constant(null), selector: fc.constantFrom("x=1", "y in (1,2)", "!z") }),
    write("get", 1, { body: fc.constant(null) }),
    write("list", 1, {
      body: fc.constant(null),
      selector: fc.constantFrom("", "x=1", "x!=1", "y", "!z", "x notin (2)"),
    }),
    ...(status === undefined
      ? []
      : [
          write("merge", 2, { body: status, subresource }),
          write("apply", 1, { body: status, subresource, force: fc.boolean() }),
          write("update", 1, { body: status, subresource }),
          write("scale", 1, { body: fc.record({ spec: fc.record({ replicas: fc.integer({ min: -1, max: 4 }) }) }) }),
        ]),
  );
}

const kinds = fc.constantFrom<FuzzKind>("configmaps", "deployments", "mixes");

/** Any sequence of operations on two objects of each of one or two kinds, by three managers. */
export const sequences: fc.Arbitrary<Sequence> = fc
  .tuple(kinds, kinds, fc.option(fc.constant(true), { freq: 1 }))
  .chain(([first, second, isWatched]) =>
    fc.record({
      operations: fc.array(
        fc.oneof({ weight: 3, arbitrary: operations(first) }, { weight: 1, arbitrary: operations(second) }),
        {
          minLength: 2,
          maxLength: 10,
        },
      ),
      ...(isWatched === null ? {} : { watched: fc.constant(first) }),
    }),
  );
