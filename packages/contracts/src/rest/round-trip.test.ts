import {
  AccessModifier,
  ConsistencyModel,
  DeploymentCondition,
  EnforcementDimension,
  EnforcementMode,
  FunctionType,
  ReplanMode,
  RolloutFailure,
  RolloutGate,
  RolloutStrategy,
  ShardType,
  StateShape,
  type ClassDefinition,
  type ClassDeployment,
  type DeploymentSummary,
  type Enforcement,
  type FunctionBinding,
  type FunctionDefinition,
  type FunctionDeployment,
  type KeySpecification,
  type NfrRequirements,
  type ObservedDeployment,
  type OdgmSpec,
  type Package,
  type PackageMetadata,
  type ProvisionConfig,
  type QosRequirement,
  type Rollout,
  type StateSpecification,
  type TelemetryConfig,
} from "@oaas/models";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  classDeploymentToWire,
  classDeploymentView,
  observedDeploymentInput,
} from "./resources/deployment/class-deployment.ts";
import { packageFromWire, packageToWire, packageView } from "./resources/package/package.ts";
import { readBy } from "./reading/violations.ts";

/**
 * Each resource is read back as it was written, so that its reader and its writer agree about every field. The generators
 * cover every field of the models: a new one does not compile until it is added here.
 */

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
const text = fc.string({ maxLength: 12 });
const amount = fc.constantFrom("100m", "1", "256Mi", "1Gi");
const count = fc.integer({ min: 1, max: 1000 });
const share = fc.double({ min: 0, max: 1, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const time = fc
  .date({ min: new Date(0), max: new Date("2099-01-01"), noInvalidDate: true })
  .map((at) => at.toISOString());
const map = <T>(value: fc.Arbitrary<T>) => fc.dictionary(word, value, { maxKeys: 3 });
const oneOf = <T extends string>(words: Readonly<Record<string, T>>) => fc.constantFrom(...Object.values(words));

type OptionalField<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? Name : never }[keyof T];
type Generators<Name extends PropertyKey> = Readonly<Record<Name, fc.Arbitrary<unknown>>>;

/** A model whose `optional` fields may be absent. */
function model<T extends object>(
  required: Generators<Exclude<keyof T, OptionalField<T>>>,
  optional: Generators<OptionalField<T>>,
): fc.Arbitrary<T> {
  return fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) as never[] }) as fc.Arbitrary<T>;
}

const provision = model<ProvisionConfig>(
  { maxConcurrency: fc.nat(100), needHttp2: fc.boolean() },
  {
    containerImage: word,
    wasmModuleUrl: fc.constant("https://host/m.wasm"),
    port: fc.integer({ min: 1, max: 65_535 }),
    cpuRequest: fc.constant("100m"),
    cpuLimit: fc.constant("2"),
    memoryRequest: fc.constant("64Mi"),
    memoryLimit: amount.filter((value) => value.endsWith("i")),
    minScale: fc.nat(5),
    maxScale: fc.integer({ min: 5, max: 9 }),
    env: fc.constantFrom(
      [{ name: "A", value: "1" }],
      [{ name: "B", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
    ),
    envFrom: fc.constant([{ prefix: "P_", configMapRef: { name: "c", optional: true } }]),
    command: fc.constant(["/bin/app"]),
    args: fc.constant(["-v", ""]),
    startupProbe: fc.constant({ exec: { command: ["true"] }, failureThreshold: 30 }),
    readinessProbe: fc.constant({ httpGet: { path: "/ready", port: "http" }, successThreshold: 2 }),
    livenessProbe: fc.constant({ grpc: { port: 9000 } }),
    volumes: fc.constant([{ name: "v", emptyDir: { sizeLimit: "1Gi" } }]),
    volumeMounts: fc.constant([]),
    resources: fc.constant({ limits: { "nvidia.com/gpu": 1 } }),
    securityContext: fc.constant({ runAsUser: 1000, capabilities: { drop: ["ALL"] } }),
    imagePullSecrets: fc.constant([{ name: "registry" }]),
    serviceAccountName: word,
    topologySpreadConstraints: fc.constant([{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }]),
    priorityClassName: word,
  },
);
const nfr = model<NfrRequirements>(
  {},
  { minThroughputRps: count, maxLatencyMs: count, availability: share, cpuUtilizationTarget: share },
);
const functionDefinition = model<FunctionDefinition>(
  { key: word, functionType: oneOf(FunctionType), config: map(text), disabled: fc.boolean() },
  { description: text, provision },
);
const binding = model<FunctionBinding>(
  {
    name: word,
    functionKey: word,
    accessModifier: oneOf(AccessModifier),
    stateless: fc.boolean(),
    parameters: fc.array(text, { maxLength: 2 }),
    triggerOnStateChange: fc.boolean(),
    asyncExecution: fc.boolean(),
  },
  {},
);
const stateSpec = model<StateSpecification>(
  {
    keySpecs: fc.array(model<KeySpecification>({ name: text, keyType: text, nullable: fc.boolean() }, {}), {
      maxLength: 2,
    }),
    defaultProvider: text,
    consistencyModel: oneOf(ConsistencyModel),
    shape: oneOf(StateShape),
    persistent: fc.boolean(),
    serializationFormat: text,
  },
  { storageRequest: amount },
);
const classDefinition = model<ClassDefinition>(
  { key: word, bindings: fc.array(binding, { maxLength: 3 }), disabled: fc.boolean() },
  { description: text, stateSpec },
);
const functionDeployment = model<FunctionDeployment>(
  { functionKey: word, config: map(text) },
  {
    description: text,
    availableLocation: text,
    qos: model<QosRequirement>({ throughput: fc.nat(9), availability: share }, {}),
    nfr,
    provision,
  },
);
const odgm = model<OdgmSpec>(
  { collections: fc.array(word, { maxLength: 2 }), nodeIds: map(fc.array(fc.maxSafeNat(), { maxLength: 2 })) },
  {
    partitionCount: count,
    replicaCount: count,
    shardType: oneOf(ShardType),
    log: text,
    allowLayoutChange: fc.boolean(),
    allowRestart: fc.boolean(),
  },
);
const telemetry = model<TelemetryConfig>(
  { resourceAttributes: map(text) },
  {
    enabled: fc.boolean(),
    traces: fc.boolean(),
    metrics: fc.boolean(),
    logs: fc.boolean(),
    samplingRate: share,
    serviceName: text,
  },
);
const deployment = model<ClassDeployment>(
  {
    key: word,
    classKey: word,
    targetClusters: fc.uniqueArray(word, { maxLength: 3 }),
    availableClusters: fc.uniqueArray(word, { maxLength: 3 }),
    nfr,
    clusterTemplates: map(word),
    functions: fc.array(functionDeployment, { maxLength: 2 }),
    allowBestEffort: fc.boolean(),
  },
  {
    packageName: word,
    namespace: word,
    environmentKind: word,
    enforcement: model<Enforcement>(
      {
        mode: oneOf(EnforcementMode),
        dimensions: fc.uniqueArray(oneOf(EnforcementDimension), { maxLength: 3 }),
      },
      { maxReplicas: fc.integer({ min: 1, max: 100 }) },
    ),
    templateHint: word,
    addons: fc.array(word, { maxLength: 2 }),
    odgm,
    telemetry,
    rollout: model<Rollout>(
      { strategy: oneOf(RolloutStrategy), gate: oneOf(RolloutGate), onFailure: oneOf(RolloutFailure) },
      { maxParallel: count },
    ),
    replan: oneOf(ReplanMode),
    replanClusterLostSeconds: fc.integer({ min: 1, max: 604_800 }),
    replanAllowStateLoss: fc.boolean(),
  },
);
const observed = model<ObservedDeployment>(
  { deployment, condition: oneOf(DeploymentCondition).filter((condition) => condition !== "unknown") },
  {
    summary: model<DeploymentSummary>(
      { replicationFactor: fc.nat(50), selectedClusters: fc.uniqueArray(word, { maxLength: 3 }) },
      { achievedQuorumAvailability: share, lastError: text, namespaces: fc.array(word, { maxLength: 2 }) },
    ),
    createdAt: time,
    updatedAt: time,
  },
);
const definition = model<Package>(
  {
    name: word,
    metadata: model<PackageMetadata>(
      { tags: fc.array(text, { maxLength: 3 }) },
      { author: text, description: text, createdAt: time, updatedAt: time },
    ),
    classes: fc.array(classDefinition, { maxLength: 2 }),
    functions: fc.array(functionDefinition, { maxLength: 2 }),
    dependencies: fc.array(word, { maxLength: 2 }),
    deployments: fc.array(deployment, { maxLength: 2 }),
    disabled: fc.boolean(),
  },
  { version: text, namespace: word },
);

function overTheWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

test("every package round-trips and matches the response schema", () => {
  fc.assert(
    fc.property(definition, (written) => {
      const wire = overTheWire(packageToWire(written));
      expect(packageView.safeParse(wire).error).toBeUndefined();
      expect(packageFromWire(wire)).toEqual({ ok: true, value: written });
    }),
  );
});

test("every deployment round-trips with its observed state", () => {
  fc.assert(
    fc.property(observed, (written) => {
      const wire = overTheWire(classDeploymentToWire(written));
      expect(classDeploymentView.safeParse(wire).error).toBeUndefined();
      expect(readBy(observedDeploymentInput, wire)).toEqual({ ok: true, value: written });
    }),
  );
});

test("writes an unknown condition as pending", () => {
  const written = fc.sample(observed, 1)[0]!;
  expect(classDeploymentToWire({ ...written, condition: DeploymentCondition.unknown }).condition).toBe("PENDING");
});
