import { create, equals, toJson } from "@bufbuild/protobuf";
import { classRuntime } from "@oaas/contracts/crd";
import {
  ConsistencyModel,
  DeploymentUnitSchema,
  FunctionType,
  StateShape,
  type ClassFunctionBinding,
  type DeploymentUnit,
  type EnforcementSpec,
  type EveryField,
  type FunctionDeploymentSpec,
  type FunctionRoute,
  type NfrRequirements,
  type OdgmConfig,
  type OdgmEventConfig,
  type ProvisionConfig,
  type StateSpec,
  type TelemetrySpec,
} from "@oaas/contracts/grpc";
import fc from "fast-check";
import { expect, test } from "vitest";
import { classRuntimeToUnit } from "./class-runtime-to-unit.ts";
import { unitToClassRuntime } from "./unit-to-class-runtime.ts";

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
/** Undefined fields are omitted, as a sender would do. `satisfies EveryField` rejects a generator that misses a field. */
const sparse = <T extends object>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc
    .record(members)
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)) as T);

const name = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,20}[A-Za-z0-9])?$/);
const classKey = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_-]{0,20}[A-Za-z0-9])?$/);
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const count = fc.integer({ min: 0, max: 1000 });
const positive = fc.integer({ min: 1, max: 100 });
const gridId = fc.maxSafeNat().map(BigInt);
const share = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
const texts = fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), fc.string({ maxLength: 12 }), { maxKeys: 3 });
const consistency = fc.constantFrom(
  ConsistencyModel.NONE,
  ConsistencyModel.READ_YOUR_WRITE,
  ConsistencyModel.BOUNDED_STALENESS,
  ConsistencyModel.STRONG,
);

const nfr = sparse({
  maxLatencyMs: optional(positive),
  minThroughputRps: optional(positive),
  availability: optional(share),
  cpuUtilizationTarget: optional(share),
  consistency: optional(consistency),
} satisfies EveryField<NfrRequirements>);

const provision = fc
  .tuple(
    sparse({
      port: optional(fc.integer({ min: 1, max: 65_535 })),
      maxConcurrency: count,
      needHttp2: fc.boolean(),
      cpuRequest: optional(fc.constantFrom("100m", "0.5")),
      cpuLimit: optional(fc.constantFrom("1", "2")),
      memoryRequest: optional(fc.constantFrom("64Mi", "128Mi")),
      memoryLimit: optional(fc.constantFrom("1Gi", "1G")),
      minScale: optional(fc.integer({ min: 0, max: 3 })),
      maxScale: optional(fc.integer({ min: 3, max: 9 })),
      pod: optional(
        fc.constantFrom(
          { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }], command: ["/app"] },
          { volumes: [{ name: "v", emptyDir: {} }], volumeMounts: [{ name: "v", mountPath: "/v" }] },
          { readinessProbe: { httpGet: { path: "/", port: 80 } }, resources: { limits: { "nvidia.com/gpu": 1 } } },
        ),
      ),
    } satisfies EveryField<Omit<ProvisionConfig, "containerImage" | "wasmModuleUrl">>),
    fc.boolean(),
  )
  .map(([one, wasm]) => ({
    ...one,
    ...(wasm ? { wasmModuleUrl: "https://modules.local/a.wasm" } : { containerImage: "registry.local/a:1" }),
  }));

const functions = fc.uniqueArray(
  sparse({
    functionKey: name,
    description: optional(fc.string({ maxLength: 12 })),
    availableLocation: optional(word),
    nfrRequirements: optional(nfr),
    provisionConfig: provision,
    config: texts,
    functionType: optional(fc.constantFrom(FunctionType.CUSTOM, FunctionType.WASM, FunctionType.BUILTIN)),
  } satisfies EveryField<FunctionDeploymentSpec>),
  { maxLength: 4, selector: ({ functionKey }) => functionKey },
);

const bindings = fc.uniqueArray(
  sparse({
    name: word,
    functionKey: name,
    accessModifier: optional(fc.constantFrom("Public", "Internal", "Private")),
    stateless: optional(fc.boolean()),
    parameters: fc.array(word, { maxLength: 2 }),
    triggerOnStateChange: optional(fc.boolean()),
    asyncExecution: optional(fc.boolean()),
  } satisfies EveryField<ClassFunctionBinding>),
  { maxLength: 3, selector: ({ name: own }) => own },
);

const odgm = sparse({
  collections: fc.uniqueArray(name, { maxLength: 3 }),
  partitionCount: optional(positive),
  replicaCount: optional(positive),
  shardType: optional(fc.constantFrom("raft", "mst", "basic")),
  invocations: optional(
    fc.record({
      fnRoutes: fc.dictionary(
        word,
        sparse({
          url: fc.constantFrom("", "http://order:80/"),
          stateless: optional(fc.boolean()),
          standby: optional(fc.boolean()),
          activeGroup: fc.array(gridId, { maxLength: 2 }),
          functionKey: optional(name),
        } satisfies EveryField<FunctionRoute>),
        { maxKeys: 3 },
      ),
      disabledFn: fc.array(word, { maxLength: 2 }),
    }),
  ),
  options: texts,
  log: optional(fc.constantFrom("info", "info,openraft=warn")),
  envNodeIds: fc.dictionary(
    word,
    fc.array(gridId, { maxLength: 3 }).map((ids) => ({ ids })),
    { maxKeys: 2 },
  ),
  odgmNodeId: optional(gridId),
  collectionAssignments: fc.dictionary(
    word,
    fc.array(fc.tuple(gridId, fc.array(gridId, { maxLength: 2 })), { maxLength: 2 }).map((pairs) => ({
      assignments: pairs.map(([primary, replica]) => ({ primary, replica, shardIds: [primary] })),
    })),
    { maxKeys: 2 },
  ),
  events: optional(
    sparse({
      enabled: fc.boolean(),
      maxTriggerDepth: optional(positive),
      triggerTimeoutMs: optional(positive),
    } satisfies EveryField<OdgmEventConfig>),
  ),
  allowLayoutChange: optional(fc.boolean()),
  allowRestart: optional(fc.boolean()),
} satisfies EveryField<OdgmConfig>);

const unit = sparse({
  id: name,
  packageName: fc.oneof(fc.constant(""), name),
  classKey,
  functions,
  functionBindings: bindings,
  targetEnv: fc.oneof(fc.constant(""), name),
  createdAt: fc.record({
    seconds: fc.integer({ min: -1_000_000, max: 4_000_000_000 }).map(BigInt),
    nanos: fc.integer({ min: 0, max: 999_999_999 }),
  }),
  // Always set, so that every unit has state and is valid.
  odgmConfig: odgm,
  selectedTemplate: optional(name),
  telemetry: optional(
    sparse({
      enabled: fc.boolean(),
      traces: optional(fc.boolean()),
      metrics: optional(fc.boolean()),
      logs: optional(fc.boolean()),
      samplingRate: optional(share),
      serviceName: optional(word),
      resourceAttributes: texts,
    } satisfies EveryField<TelemetrySpec>),
  ),
  nfrRequirements: optional(nfr),
  state: optional(
    sparse({
      consistencyModel: optional(consistency),
      persistent: fc.boolean(),
      shape: optional(fc.constantFrom(StateShape.DATA, StateShape.SINGLETON, StateShape.COLLECTION)),
      serializationFormat: optional(word),
      defaultProvider: optional(word),
      keySpecs: fc.array(sparse({ name: word, keyType: word, nullable: optional(fc.boolean()) }), { maxLength: 2 }),
      storageRequest: optional(fc.constant("10Gi")),
    } satisfies EveryField<StateSpec>),
  ),
  enforcement: optional(
    fc.record({
      mode: fc.constantFrom(1, 2, 3),
      dimensions: fc.uniqueArray(fc.constantFrom(1, 2, 3), { maxLength: 3 }),
      maxReplicas: optional(fc.integer({ min: 1, max: 100 })),
    } satisfies EveryField<EnforcementSpec>),
  ),
  addons: optional(fc.record({ names: fc.uniqueArray(word, { maxLength: 2 }) })),
  templateHint: optional(name),
  revision: optional(gridId),
  digest: optional(word),
  packageRevision: optional(word),
  deploymentKey: optional(name),
  managedBy: optional(word),
  environment: optional(word),
} satisfies EveryField<DeploymentUnit>);

test("round-trips a unit through an object and the storage of the API server", () => {
  fc.assert(
    fc.property(unit, (init) => {
      const sent = create(DeploymentUnitSchema, init as Parameters<typeof create<typeof DeploymentUnitSchema>>[1]);
      const made = unitToClassRuntime(sent, { namespace: "shop" });
      if (!made.ok) throw new Error(JSON.stringify(made.error));
      const stored = classRuntime.parse(JSON.parse(JSON.stringify(made.value.manifest)));
      const back = classRuntimeToUnit(stored);
      if (equals(DeploymentUnitSchema, sent, back)) return;
      expect(toJson(DeploymentUnitSchema, back)).toEqual(toJson(DeploymentUnitSchema, sent));
    }),
    { numRuns: 300 },
  );
});

/** Invalid enum numbers, texts and list lengths. */
const wild = fc.record({
  id: fc.string({ maxLength: 90 }),
  packageName: fc.string(),
  classKey: fc.string(),
  functions: fc.array(
    fc.record({
      functionKey: fc.string(),
      functionType: fc.nat(9),
      provisionConfig: fc.record({
        containerImage: fc.string(),
        cpuRequest: fc.string(),
        port: fc.nat(100_000),
        minScale: fc.nat(),
      }),
      nfrRequirements: fc.record({ availability: fc.double(), consistency: fc.nat(9) }),
      config: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
    }),
    { maxLength: 4 },
  ),
  odgmConfig: fc.record({
    collections: fc.array(fc.string(), { maxLength: 3 }),
    odgmNodeId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    envNodeIds: fc.dictionary(fc.string(), fc.record({ ids: fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })) })),
  }),
  createdAt: fc.record({ seconds: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), nanos: fc.integer() }),
  enforcement: fc.record({ mode: fc.nat(9), dimensions: fc.array(fc.nat(9), { maxLength: 4 }) }),
});

test("accepts any unit or rejects it with violations, and never throws", () => {
  fc.assert(
    fc.property(wild, (init) => {
      const sent = create(DeploymentUnitSchema, init as Parameters<typeof create<typeof DeploymentUnitSchema>>[1]);
      const made = unitToClassRuntime(sent, { namespace: "shop" });
      if (made.ok) classRuntime.parse(made.value.manifest);
      else expect(made.error.length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});
