import { create, toJson, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import {
  accessModifierToWire,
  consistencyWords,
  DeploymentUnitSchema,
  enforcementDimensionWords,
  enforcementModeWords,
  functionTypeWords,
  stateShapeWords,
  TimestampSchema,
  type CollectionShardAssignmentsSchema,
  type ClassFunctionBinding,
  type ClassFunctionBindingSchema,
  type DeploymentUnit,
  type EveryField,
  type FunctionDeploymentSpec,
  type FunctionDeploymentSpecSchema,
  type NfrRequirements as NfrRequirementsMessage,
  type NfrRequirementsSchema,
  type OdgmConfig,
  type OdgmConfigSchema,
  type ProvisionConfig as ProvisionConfigMessage,
  type ProvisionConfigSchema,
  type StateSpec,
  type StateSpecSchema,
  type TelemetrySpec,
  type TelemetrySpecSchema,
} from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import { hashJson } from "@oaas/foundation/hash";
import {
  podSettingsOf,
  type Enforcement,
  type FunctionBinding,
  type NfrRequirements,
  type PodSettings,
  type ProvisionConfig,
  type StateSpecification,
  type TelemetryConfig,
} from "@oaas/models";
import type {
  DeploymentPlan,
  FunctionSpec,
  PlannedFunction,
  PlannedOdgm,
  PlannedUnit,
  ShardAssignment,
  SharedSpec,
} from "../../../planner/plan-types.ts";
import type { UnitEncoder } from "../../../sagas/unit-sender.ts";

type UnitInit = MessageInitShape<typeof DeploymentUnitSchema>;

/**
 * Encodes the units of plans.
 *
 * *Guarantees*: the digest covers the content of the unit and not its envelope, so that the same plan has the same digest
 * when it is sent with a later revision or by another process.
 */
export const unitEncoder: UnitEncoder = {
  encode: (plan, unit) => {
    const wire = create(DeploymentUnitSchema, desiredUnit(plan, unit));
    wire.digest = unitDigest(wire);
    return wire;
  },
  withEnvelope: (encoded, { revision, createdAtMs, managedBy }) => ({
    ...encoded,
    revision: BigInt(revision),
    managedBy,
    createdAt: create(TimestampSchema, {
      seconds: BigInt(Math.floor(createdAtMs / 1000)),
      nanos: (createdAtMs % 1000) * 1_000_000,
    }),
  }),
};

function desiredUnit(plan: DeploymentPlan, unit: PlannedUnit): UnitInit {
  const { shared } = plan;
  return omitUndefined({
    id: unit.unitId,
    packageName: shared.packageName,
    classKey: shared.classKey,
    functions: shared.functions.map((spec) => functionToWire(spec, unit.functions)),
    targetEnv: unit.cluster,
    functionBindings: shared.bindings.map(bindingToWire),
    odgmConfig: plan.odgm && odgmToWire(plan.odgm, unit, shared),
    selectedTemplate: unit.template,
    telemetry: shared.telemetry && telemetryToWire(shared.telemetry),
    nfrRequirements: nfrToWire(shared.nfr),
    state: shared.state && stateToWire(shared.state),
    enforcement: shared.enforcement && enforcementToWire(shared.enforcement),
    addons: shared.addons && { names: [...shared.addons] },
    templateHint: shared.templateHint,
    packageRevision: String(shared.packageRevision),
    deploymentKey: shared.deploymentKey,
    // Not the environment kind, which only selects clusters: the cluster's default EnvironmentConfig applies.
    environment: undefined,
  } satisfies EveryField<Omit<DeploymentUnit, "revision" | "managedBy" | "createdAt" | "digest">> &
    EveryField<Omit<SharedSpec, "bindings" | "nfr" | "environmentKind">>);
}

/** The digest of the desired content of a unit. */
export function unitDigest(unit: DeploymentUnit): string {
  const {
    createdAt: _createdAt,
    revision: _revision,
    managedBy: _managedBy,
    digest: _digest,
    ...desired
  } = toJson(DeploymentUnitSchema, unit) as JsonObject;
  return hashJson(desired);
}

function functionToWire(
  spec: FunctionSpec,
  planned: readonly PlannedFunction[],
): MessageInitShape<typeof FunctionDeploymentSpecSchema> {
  const scale = planned.find(({ functionKey }) => functionKey === spec.functionKey);
  return omitUndefined({
    functionKey: spec.functionKey,
    functionType: functionTypeWords.toWire(spec.functionType),
    description: spec.description,
    availableLocation: spec.availableLocation,
    nfrRequirements: nfrToWire(spec.nfr),
    provisionConfig: {
      ...provisionToWire(spec.provision),
      ...(scale === undefined ? {} : omitUndefined({ minScale: scale.minScale, maxScale: scale.maxScale })),
    },
    config: { ...spec.config },
  } satisfies EveryField<FunctionDeploymentSpec> & EveryField<Omit<FunctionSpec, "nfr" | "provision">>);
}

function provisionToWire(provision: ProvisionConfig): MessageInitShape<typeof ProvisionConfigSchema> {
  return omitUndefined({
    containerImage: provision.containerImage,
    wasmModuleUrl: provision.wasmModuleUrl,
    port: provision.port,
    maxConcurrency: provision.maxConcurrency,
    needHttp2: provision.needHttp2,
    cpuRequest: provision.cpuRequest,
    memoryRequest: provision.memoryRequest,
    cpuLimit: provision.cpuLimit,
    memoryLimit: provision.memoryLimit,
    minScale: provision.minScale,
    maxScale: provision.maxScale,
    pod: podSettingsOf(provision) as JsonObject | undefined,
  } satisfies EveryField<Omit<ProvisionConfig, keyof PodSettings>> & EveryField<ProvisionConfigMessage>);
}

/** Undefined when there are no requirements. */
function nfrToWire(nfr: NfrRequirements): MessageInitShape<typeof NfrRequirementsSchema> | undefined {
  if (Object.keys(nfr).length === 0) return undefined;
  return omitUndefined({
    minThroughputRps: nfr.minThroughputRps,
    maxLatencyMs: nfr.maxLatencyMs,
    availability: nfr.availability,
    cpuUtilizationTarget: nfr.cpuUtilizationTarget,
  } satisfies EveryField<NfrRequirements> & EveryField<Omit<NfrRequirementsMessage, "consistency">>);
}

function telemetryToWire(telemetry: TelemetryConfig): MessageInitShape<typeof TelemetrySpecSchema> {
  return omitUndefined({
    enabled: telemetry.enabled ?? true,
    traces: telemetry.traces,
    metrics: telemetry.metrics,
    logs: telemetry.logs,
    samplingRate: telemetry.samplingRate,
    serviceName: telemetry.serviceName,
    resourceAttributes: { ...telemetry.resourceAttributes },
  } satisfies EveryField<TelemetryConfig> & EveryField<TelemetrySpec>);
}

function bindingToWire(binding: FunctionBinding): MessageInitShape<typeof ClassFunctionBindingSchema> {
  return omitUndefined({
    name: binding.name,
    functionKey: binding.functionKey,
    accessModifier: accessModifierToWire(binding.accessModifier),
    stateless: binding.stateless,
    parameters: [...binding.parameters],
    triggerOnStateChange: binding.triggerOnStateChange || undefined,
    asyncExecution: binding.asyncExecution || undefined,
  } satisfies EveryField<FunctionBinding> & EveryField<ClassFunctionBinding>);
}

function odgmToWire(
  odgm: PlannedOdgm,
  { cluster }: PlannedUnit,
  { bindings, functions }: SharedSpec,
): MessageInitShape<typeof OdgmConfigSchema> {
  const deployed = new Set<string>(functions.map(({ functionKey }) => functionKey));
  const routes = bindings
    .filter(({ functionKey }) => deployed.has(functionKey))
    .map(({ name, functionKey, stateless }) => [name, { url: "", stateless, standby: false, functionKey }] as const);
  const [own] = odgm.nodeIds[cluster] ?? [];
  return omitUndefined({
    collections: [...odgm.collections],
    partitionCount: odgm.partitionCount,
    replicaCount: odgm.replicaCount,
    shardType: odgm.shardType,
    log: odgm.log,
    invocations: routes.length === 0 ? undefined : { fnRoutes: Object.fromEntries(routes) },
    envNodeIds: mapValues(odgm.nodeIds, (ids) => ({ ids: ids.map(BigInt) })),
    odgmNodeId: own === undefined ? undefined : BigInt(own),
    collectionAssignments: mapValues(odgm.assignments, assignmentsToWire),
    allowLayoutChange: odgm.allowLayoutChange,
    allowRestart: odgm.allowRestart,
  } satisfies EveryField<Omit<OdgmConfig, "options" | "events">> &
    EveryField<Omit<PlannedOdgm, "nodeIds" | "assignments">>);
}

function assignmentsToWire(
  assignments: readonly ShardAssignment[],
): MessageInitShape<typeof CollectionShardAssignmentsSchema> {
  return {
    assignments: assignments.map(({ primary, replica, shardIds }) => ({
      primary: BigInt(primary),
      replica: replica.map(BigInt),
      shardIds: shardIds.map(BigInt),
    })),
  };
}

function stateToWire(state: StateSpecification): MessageInitShape<typeof StateSpecSchema> {
  return omitUndefined({
    consistencyModel: consistencyWords.toWire(state.consistencyModel),
    persistent: state.persistent,
    shape: stateShapeWords.toWire(state.shape),
    serializationFormat: state.serializationFormat === "" ? undefined : state.serializationFormat,
    defaultProvider: state.defaultProvider === "" ? undefined : state.defaultProvider,
    keySpecs: state.keySpecs.map(({ name, keyType, nullable }) => ({ name, keyType, nullable })),
    storageRequest: state.storageRequest,
  } satisfies EveryField<StateSpec> & EveryField<StateSpecification>);
}

function enforcementToWire({ mode, dimensions, maxReplicas }: Enforcement) {
  return omitUndefined({
    mode: enforcementModeWords.toWire(mode),
    dimensions: dimensions.map((dimension) => enforcementDimensionWords.toWire(dimension)),
    maxReplicas,
  } satisfies EveryField<Enforcement>);
}

function mapValues<A, B>(entries: Readonly<Record<string, A>>, convert: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, convert(value)]));
}
