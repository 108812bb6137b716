import type { JsonObject } from "@bufbuild/protobuf";
import { ObjectChange, type RenderUnitResponse } from "@oaas/contracts/grpc";
import { Fault, isFault, unavailable } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { annotationOf, type KubeObject, type Stored } from "@oaas/kube-core";
import { KubeClient, type Transport } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { describeOnTarget, eventually, sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKubeClasses } from "../src/classes/kube-store.ts";
import { HASH_ANNOTATION } from "../src/controller/children/apply-children.ts";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { CLASS_RUNTIMES, CORE_CHILD_KINDS } from "../src/controller/kinds/resource-types.ts";
import { createServeCheck } from "../src/grpc/deployments/serve-check.ts";
import { changedFields, type ChangedFields } from "../src/lifecycle/status/changed-fields.ts";
import { objectName } from "../src/mapping/object-identity.ts";
import { ControllerFixture } from "./support/controller-fixture.ts";
import { startGrpcServices, unit, type GrpcFixture } from "./support/grpc-fixture.ts";
import { createNamespace } from "./support/namespace-snapshot.ts";

const WHERE = "preview";
const STEPS = 50;
const NAMES = ["a", "b", "c", "d"];
const CASES = sweepSize(STEPS, 1_000);

const ENV = [
  { name: "PLAIN", value: "1" },
  { name: "PLAIN", value: "2" },
  { name: "DATABASE_URL", valueFrom: { secretKeyRef: { name: "database", key: "url" } } },
  { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  { name: "LIMIT", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
];
const VOLUMES = [
  { name: "scratch", emptyDir: { sizeLimit: "1Mi" } },
  { name: "settings", configMap: { name: "settings", optional: true } },
  { name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
];
const PROBES = [{ httpGet: { path: "/ready" } }, { grpc: {} }, { exec: { command: ["true"] }, periodSeconds: 7 }];

/** Settings of a function's pod. Referenced objects do not exist: the class is degraded, and applied all the same. */
const podSettings = fc
  .record(
    {
      env: fc.uniqueArray(fc.constantFrom(...ENV), { selector: ({ name }) => name }),
      volumes: fc.subarray(VOLUMES),
      readinessProbe: fc.constantFrom(...PROBES),
      startupProbe: fc.constantFrom(...PROBES),
      args: fc.constantFrom(["--a"], ["--a", "--b"]),
      securityContext: fc.record({ runAsUser: fc.constantFrom(1000, 2000), readOnlyRootFilesystem: fc.boolean() }),
      resources: fc.constantFrom({ limits: { "example.com/gpu": 1 } }, { limits: { "ephemeral-storage": "1Gi" } }),
      serviceAccountName: fc.constantFrom("runner", "default"),
      priorityClassName: fc.constant("urgent"),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map(({ volumes, ...settings }) => {
    const volumeMounts = volumes?.map(({ name }) => ({ name, mountPath: `/mnt/${name}` }));
    return { ...settings, ...(volumes === undefined ? {} : { volumes, volumeMounts }) } as JsonObject;
  });

/** What a step deploys; the names are few, so that most steps change what an earlier one deployed. */
const change = fc.record({
  which: fc.constantFrom(...NAMES),
  template: fc.constantFrom(undefined, "dev", "edge", "full", "k8s_deployment", "statefulset", "daemonset", "job"),
  functions: fc.uniqueArray(fc.constantFrom("read", "write", "list"), { minLength: 1 }),
  tag: fc.constantFrom("1", "2"),
  minScale: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  cpu: fc.constantFrom(undefined, "100m", "0.2"),
  config: fc.dictionary(fc.constantFrom("MODE", "LEVEL", "API_TOKEN"), fc.constantFrom("x", "y"), {
    noNullPrototype: true,
  }),
  state: fc.constantFrom(undefined, "plain", "persistent"),
  telemetry: fc.boolean(),
  pod: fc.option(podSettings, { nil: undefined }),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function unitOf(id: string, { template, functions, tag, minScale, cpu, config, state, telemetry, pod }: Change) {
  return unit(id, {
    ...(template === undefined ? {} : { selectedTemplate: template }),
    functions: functions.map((functionKey) => ({
      functionKey,
      config,
      provisionConfig: {
        containerImage: `registry.test/${functionKey}:${tag}`,
        ...(minScale === undefined ? {} : { minScale }),
        ...(cpu === undefined ? {} : { cpuRequest: cpu }),
        ...(pod === undefined ? {} : { pod }),
      },
    })),
    ...(state === undefined ? {} : { state: { persistent: state === "persistent" } }),
    ...(telemetry ? { telemetry: { enabled: true } } : {}),
  });
}

const WORDS = {
  [ObjectChange.UNSPECIFIED]: "UNSPECIFIED",
  [ObjectChange.CREATE]: "CREATE",
  [ObjectChange.UPDATE]: "UPDATE",
  [ObjectChange.DELETE]: "DELETE",
  [ObjectChange.UNCHANGED]: "UNCHANGED",
  [ObjectChange.BLOCKED]: "UNCHANGED",
} as const satisfies Record<ObjectChange, string>;

describeOnTarget("preview of a unit", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let client: KubeClient;
  let crm: ClassManager;
  let grpc: GrpcFixture;
  let writer: KubeClient;
  let mayWrite = true;

  beforeAll(async () => {
    fixture = await ControllerFixture.start({ kwokNodes: 4 });
    client = fixture.createClient();
    await createNamespace(client, WHERE);
    const access = loadAccess({ env: {}, kubeconfig: fixture.cluster.kubeconfig });
    const transport = dryRunsOnly(createUndiciTransport(access, realAmbient), () => !mayWrite);
    writer = new KubeClient({ transport, ambient: realAmbient });
    crm = await fixture.startController({ namespaces: [WHERE], client: writer });
    const { facts, templateSources } = crm;
    grpc = await startGrpcServices({
      ...createKubeClasses(client, [crm.classRuntimes], realAmbient.clock),
      namespaces: { served: [WHERE], fallback: WHERE },
      check: createServeCheck({
        facts: (namespace) => facts.read(namespace),
        environmentOf: (namespace, name) => templateSources.resolveEnvironment(namespace, name),
        runningStore: (existing) => crm.runningStore(existing),
        userTemplates: (namespace) => templateSources.userTemplates(namespace),
        exceededQuotas: () => [],
      }),
      preview: (object, signal) => crm.preview(object, signal),
    });
  });
  afterAll(async () => {
    await grpc?.close();
    await fixture?.close();
    await writer?.close();
  });

  /** The children of a class by kind and name. */
  async function childrenOf(name: string): Promise<ReadonlyMap<string, Stored<KubeObject>>> {
    const options = { namespace: WHERE, labelSelector: `oaas.io/owner=${name}` };
    const lists = await Promise.all(CORE_CHILD_KINDS.map((kind) => client.resource(kind).list(options)));
    // Not the volume claims that StatefulSets create.
    const ours = lists
      .flatMap(({ items }) => items)
      .filter((item) => annotationOf(item, HASH_ANNOTATION) !== undefined);
    return new Map(ours.map((item) => [`${item.kind} ${item.metadata.name}`, item]));
  }

  /** Waits until the controller has applied the current generation. */
  async function untilApplied(name: string): Promise<void> {
    await eventually(
      async () => {
        const found = await client.resource(CLASS_RUNTIMES).find({ namespace: WHERE, name });
        return found !== undefined && found.status?.observedGeneration === found.metadata.generation;
      },
      { timeoutMs: 240_000, what: `${name} to be applied` },
    );
  }

  async function generationOf(name: string): Promise<number | undefined> {
    return (await client.resource(CLASS_RUNTIMES).find({ namespace: WHERE, name }))?.metadata.generation;
  }

  /** Renders, deploys, and compares the announced changes with those that happened. */
  async function deployAsPreviewed(id: string, step: Change): Promise<void> {
    const deploymentUnit = unitOf(id, step);
    const name = objectName(id);
    const before = await childrenOf(name);
    const generation = await generationOf(name);
    const previewed = await answer(() => grpc.deployments.renderUnit({ deploymentUnit }));
    const deployed = await answer(() => grpc.deployments.deploy({ deploymentUnit }));
    if (previewed instanceof Fault || deployed instanceof Fault) {
      const [rendering, deploying] = [previewed, deployed].map((each) => (each instanceof Fault ? each.message : "ok"));
      expect(rendering).toBe(deploying);
      return;
    }
    await untilApplied(name);
    const isDeployed = (await generationOf(name)) !== generation;
    const { objects } = previewed;
    expect(objects[0]?.change !== ObjectChange.UNCHANGED).toBe(isDeployed);
    // A blocked object stays as it is.
    const isLeftOut = ({ kind, name: child, change: word }: RenderUnitResponse["objects"][number]): boolean =>
      word === ObjectChange.BLOCKED && !before.has(`${kind} ${child}`);
    const announced = objects
      .slice(1)
      .filter((object) => !isLeftOut(object))
      .map(({ kind, name: child, change: word }) => `${WORDS[word as keyof typeof WORDS]} ${kind} ${child}`);
    // A pass in which the API server did not answer is repeated, also after the generation was observed.
    const after = await eventually(
      async () => {
        const children = await childrenOf(name);
        expect(changesBetween(before, children).toSorted()).toEqual(announced.toSorted());
        return children;
      },
      { timeoutMs: 240_000, what: `the announced changes of ${name}` },
    );
    for (const object of objects) {
      const [was, now] = [before, after].map((children) => children.get(`${object.kind} ${object.name}`));
      for (const { path, was: then, now: afterwards } of object.fields) {
        if ([then, afterwards].some((text) => text === "(masked)" || /^"\d+ items?"$/.test(text))) continue;
        expect([path, textAt(was, path), textAt(now, path)]).toEqual([path, then, afterwards]);
      }
      const announcedPaths = object.change === ObjectChange.UPDATE ? listedPaths(object) : undefined;
      const changedPaths = was && now && listedPaths(changedFields(was, now, NOT_DESIRED));
      if (announcedPaths !== undefined && changedPaths !== undefined)
        expect(changedPaths.toSorted()).toEqual(announcedPaths.toSorted());
    }
  }

  test(`announces exactly what Deploy then does, in ${CASES} random cases`, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: STEPS, maxLength: STEPS, size: "max" }), async (steps) => {
        run += 1;
        await Promise.all(
          NAMES.map(async (which) => {
            const own = steps.filter((step) => step.which === which);
            for (const step of own) await deployAsPreviewed(`run-${run}-${which}`, step);
          }),
        );
        await Promise.all(
          NAMES.map((which) =>
            grpc.deployments.deleteDeployment({ deploymentId: `run-${run}-${which}` }).catch((thrown: unknown) => {
              if (!isFault(thrown, "not-found")) throw thrown;
            }),
          ),
        );
        // Otherwise the deletions of many runs add up.
        await eventually(
          async () => expect((await client.resource(CLASS_RUNTIMES).list({ namespace: WHERE })).items).toEqual([]),
          { timeoutMs: 240_000, what: `run ${run} to be deleted` },
        );
      }),
      { numRuns: CASES / STEPS, endOnFailure: true },
    );
  }, 1_800_000);

  test("changes nothing in the cluster", async () => {
    const deploymentUnit = unit("only-rendered");
    const { objects, template } = await grpc.deployments.renderUnit({ deploymentUnit });
    expect(template).not.toBe("");
    expect(objects.map(({ kind, change: word }) => [kind, word])).toContainEqual(["Deployment", ObjectChange.CREATE]);
    expect(await client.resource(CLASS_RUNTIMES).find({ namespace: WHERE, name: "only-rendered" })).toBeUndefined();
  });

  test("says that a name is taken by an object of someone else", async () => {
    await fixture.kubectl(`create service clusterip taken --tcp=80 -n ${WHERE}`);
    const { objects } = await grpc.deployments.renderUnit({ deploymentUnit: unit("taken") });
    expect(objects.find(({ kind }) => kind === "Service")).toMatchObject({
      change: ObjectChange.BLOCKED,
      problem: expect.stringContaining("belongs to another owner"),
    });
  });

  test("says that the API server would reject a new object, and why", async () => {
    await fixture.kubectl(`create quota no-services --hard=services=0 -n ${WHERE}`);
    await eventually(async () => {
      const { objects } = await grpc.deployments.renderUnit({ deploymentUnit: unit("denied") });
      expect(objects.find(({ kind }) => kind === "Service")).toMatchObject({
        change: ObjectChange.BLOCKED,
        problem: expect.stringContaining("exceeded quota: no-services"),
      });
    });
    await fixture.kubectl(`delete quota no-services -n ${WHERE}`);
  });

  test("shows an edit by someone else as the field that is set back", async () => {
    const deploymentUnit = unit("edited");
    await grpc.deployments.deploy({ deploymentUnit });
    await untilApplied("edited");
    mayWrite = false;
    await fixture.kubectl(`set image deploy/edited *=evil:1 -n ${WHERE}`);
    await eventually(async () => {
      const { objects } = await grpc.deployments.renderUnit({ deploymentUnit });
      expect(objects.filter(({ change: word }) => word !== ObjectChange.UNCHANGED)).toMatchObject([
        {
          kind: "Deployment",
          change: ObjectChange.UPDATE,
          fields: [{ path: expect.stringMatching(/\.image$/), was: '"evil:1"', now: '"registry.test/place:1"' }],
        },
      ]);
    });
  });
});

/** The announced paths; undefined if not all of them are listed. */
function listedPaths({ fields, moreFields }: ChangedFields): readonly string[] | undefined {
  if (moreFields > 0) return undefined;
  return fields.map(({ path }) => path).filter((path) => !NOT_DESIRED.has(path.slice(path.lastIndexOf(".") + 1)));
}

/** Controllers of the cluster set these: an autoscaler the replicas, others the annotations. */
const NOT_DESIRED = new Set([
  HASH_ANNOTATION,
  "deployment.kubernetes.io/revision",
  "deprecated.daemonset.template.generation",
  "replicas",
]);

/** Lets only dry runs through while `isOn`, so that the controller cannot repair what the test edits. */
function dryRunsOnly(transport: Transport, isOn: () => boolean): Transport {
  return {
    send: async (request) => {
      if (isOn() && request.method !== "GET" && !request.path.includes("dryRun=All"))
        throw unavailable("api", "paused");
      return transport.send(request);
    },
    close: () => transport.close(),
  };
}

/** The response or the fault of a call; a busy machine may drop its connection. */
async function answer<T extends object>(call: () => Promise<T>): Promise<T | Fault> {
  return eventually(
    async (): Promise<T | Fault> => {
      try {
        return await call();
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (fault.retryable || fault.kind === "deadline-exceeded") throw fault;
        return fault;
      }
    },
    { timeoutMs: 240_000 },
  );
}

function changesBetween(
  before: ReadonlyMap<string, Stored<KubeObject>>,
  after: ReadonlyMap<string, Stored<KubeObject>>,
): string[] {
  const hashOf = (object: Stored<KubeObject> | undefined): string | undefined =>
    object && annotationOf(object, HASH_ANNOTATION);
  return [...new Set([...before.keys(), ...after.keys()])].map((id) => {
    const [was, now] = [before.get(id), after.get(id)];
    if (was === undefined) return `CREATE ${id}`;
    if (now === undefined) return `DELETE ${id}`;
    if (was.metadata.uid !== now.metadata.uid) return `REPLACE ${id}`;
    return `${hashOf(was) === hashOf(now) ? "UNCHANGED" : "UPDATE"} ${id}`;
  });
}

/** The JSON of the value at the path of a changed field; empty without one. */
function textAt(object: unknown, path: string): string {
  const steps = [...path.matchAll(/\.([A-Za-z0-9_-]+)|\[(\d+)\]|\["([^"]*)"\]|\[([^\]"]+)\]/g)];
  const value = steps.reduce<unknown>((at, [, member, index, quoted, key]) => {
    if (key !== undefined) return itemWith(at, key);
    return (at as Record<string, unknown> | undefined)?.[member ?? quoted ?? index ?? ""];
  }, object);
  const text = value === undefined ? "" : JSON.stringify(value);
  return text.length <= 96 ? text : `${text.slice(0, 95)}…`;
}

function itemWith(list: unknown, key: string): unknown {
  const fields = key.split(",").map((pair) => pair.split("=", 2) as [string, string]);
  return (list as readonly Record<string, unknown>[] | undefined)?.find((item) =>
    fields.every(([field, value]) => String(item[field]) === value),
  );
}
