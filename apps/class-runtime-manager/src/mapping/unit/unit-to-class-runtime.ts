import { API_VERSION, classRuntime, type ClassRuntime, type ClassRuntimeInput } from "@oaas/contracts/crd";
import {
  enforcementDimensionWords,
  enforcementModeWords,
  type DeploymentUnit,
  type EveryField,
} from "@oaas/contracts/grpc";
import { equalJson, err, ok, pathOf, type Result, type Violation } from "@oaas/foundation";
import { checkText, CLASS_KEY, CONFIG_KEY, PACKAGE_NAME } from "@oaas/models";
import { bindingFromWire, functionFromWire, nfrFromWire } from "./function-wire.ts";
import { ANNOTATIONS, checkDeploymentId, DEPLOYMENT_ID_LABEL, objectName } from "../object-identity.ts";
import { odgmFromWire, stateFromWire } from "./odgm-wire.ts";
import { nonEmptyList, omitUndefined, nonEmptyMap, nonEmptyText } from "../omit-empty.ts";
import { schemaViolations, type Path } from "../schema-violations.ts";
import { WireReader } from "./wire-reader.ts";

/** Path of the unit in the request. */
const UNIT_PATH = "$.deployment_unit";

/** Properties of the call that are not part of the unit. */
export interface UnitContext {
  readonly namespace: string;
  readonly correlationId?: string | undefined;
  /** The span of the call, for the reconciles that it causes. */
  readonly traceparent?: string | undefined;
  /** Profile of the class runtime manager. */
  readonly profile?: string | undefined;
}

/** The object of a unit. */
export interface UnitObject {
  /** The object to write, without defaults. */
  readonly manifest: ClassRuntimeInput;
  /** The object with defaults, to compare with the stored one. */
  readonly desired: ClassRuntime;
}

type SpecInput = ClassRuntimeInput["spec"];

/**
 * Converts a unit to its ClassRuntime, or returns all violations. Nothing is dropped or guessed: a field that the
 * object cannot store is a violation.
 */
export function unitToClassRuntime(
  unit: DeploymentUnit,
  acceptance: UnitContext,
): Result<UnitObject, readonly Violation[]> {
  const reader = new WireReader();
  const spec = specOf(unit, reader);
  const manifest: ClassRuntimeInput = {
    apiVersion: API_VERSION,
    kind: "ClassRuntime",
    metadata: metadataOf(unit, acceptance, spec),
    spec,
  };
  const parsed = classRuntime.safeParse(manifest, { reportInput: true });
  const found = [
    ...checkDeploymentId(unit.id, pathOf(UNIT_PATH, "id")),
    ...(unit.packageName === "" ? [] : checkText(PACKAGE_NAME, unit.packageName, pathOf(UNIT_PATH, "package_name"))),
    ...checkText(CLASS_KEY, unit.classKey, pathOf(UNIT_PATH, "class_key")),
    ...configViolations(unit),
    ...reader.violations,
  ];
  const places = new Set(found.map(({ path }) => path));
  const general = parsed.success ? [] : schemaViolations(parsed.error, UNIT_PATH, wirePath);
  const violations = [...found, ...general.filter(({ path }) => !places.has(path))];
  return parsed.success && violations.length === 0 ? ok({ manifest, desired: parsed.data }) : err(violations);
}

/** Whether the stored object already equals the desired one. The correlation id, the trace and the planning time are ignored. */
export function isUnchanged(stored: ClassRuntime, desired: ClassRuntime): boolean {
  const {
    [ANNOTATIONS.correlationId]: _,
    [ANNOTATIONS.traceparent]: __,
    ...annotations
  } = desired.metadata.annotations ?? {};
  const has = (
    given: Readonly<Record<string, string>> | undefined,
    wanted: Readonly<Record<string, string>>,
  ): boolean => Object.entries(wanted).every(([key, value]) => given?.[key] === value);
  return (
    equalJson(withoutCreationTime(stored.spec), withoutCreationTime(desired.spec)) &&
    has(stored.metadata.labels, desired.metadata.labels ?? {}) &&
    has(stored.metadata.annotations, annotations)
  );
}

function withoutCreationTime({ origin, ...spec }: ClassRuntime["spec"]): object {
  const { created_at: _, ...rest } = origin ?? {};
  return { ...spec, origin: rest };
}

function metadataOf(
  unit: DeploymentUnit,
  { namespace, correlationId, traceparent, profile }: UnitContext,
  spec: SpecInput,
) {
  const annotations = nonEmptyMap(
    omitUndefined({
      [ANNOTATIONS.correlationId]: correlationId,
      [ANNOTATIONS.traceparent]: traceparent,
      [ANNOTATIONS.enforcement]: spec.enforcement?.mode,
      [ANNOTATIONS.templateHint]: nonEmptyText(unit.templateHint),
      [ANNOTATIONS.profile]: profile,
    }) as Record<string, string>,
  );
  return {
    name: objectName(unit.id),
    namespace,
    labels: { [DEPLOYMENT_ID_LABEL]: unit.id },
    ...(annotations === undefined ? {} : { annotations }),
  };
}

/** Fields of the spec that only objects written by hand have. */
type NotOnWire = "nfr" | "resource_allocation";

function specOf(unit: DeploymentUnit, reader: WireReader): SpecInput {
  const at = (...keys: readonly (string | number)[]): string => pathOf(UNIT_PATH, ...keys);
  const { odgmConfig: odgm, state, nfrRequirements: nfr, telemetry } = unit;
  return omitUndefined({
    package_class_key: nonEmptyText([unit.packageName, unit.classKey].filter((part) => part !== "").join(".")),
    functions: nonEmptyList(unit.functions.map((one, index) => functionFromWire(one, at("functions", index), reader))),
    function_bindings: nonEmptyList(
      unit.functionBindings.map((one, index) => bindingFromWire(one, at("function_bindings", index), reader)),
    ),
    origin: originOf(unit, reader),
    selected_template: nonEmptyText(unit.selectedTemplate),
    template_hint: nonEmptyText(unit.templateHint),
    target_environment: nonEmptyText(unit.environment),
    addons: unit.addons === undefined ? undefined : [...unit.addons.names],
    odgm_config: odgm === undefined ? undefined : odgmFromWire(odgm, at("odgm_config"), reader),
    state_spec: state === undefined ? undefined : stateFromWire(state, at("state"), reader),
    nfr_requirements: nfr === undefined ? undefined : nfrFromWire(nfr, at("nfr_requirements"), reader),
    enforcement: enforcementOf(unit, reader),
    telemetry:
      telemetry === undefined
        ? undefined
        : omitUndefined({
            enabled: telemetry.enabled,
            traces: telemetry.traces,
            metrics: telemetry.metrics,
            logs: telemetry.logs,
            sampling_rate: telemetry.samplingRate,
            service_name: nonEmptyText(telemetry.serviceName),
            resource_attributes: nonEmptyMap(telemetry.resourceAttributes),
          } satisfies EveryField<NonNullable<SpecInput["telemetry"]>>),
  } satisfies EveryField<Omit<SpecInput, NotOnWire>>);
}

function originOf(unit: DeploymentUnit, reader: WireReader): NonNullable<SpecInput["origin"]> {
  return omitUndefined({
    deployment_id: unit.id,
    deployment_key: nonEmptyText(unit.deploymentKey),
    target_env: nonEmptyText(unit.targetEnv),
    revision: reader.safeInteger(unit.revision, pathOf(UNIT_PATH, "revision")),
    digest: nonEmptyText(unit.digest),
    package_revision: nonEmptyText(unit.packageRevision),
    managed_by: nonEmptyText(unit.managedBy),
    created_at: reader.timestamp(unit.createdAt, pathOf(UNIT_PATH, "created_at")),
  } satisfies EveryField<NonNullable<SpecInput["origin"]>>);
}

function enforcementOf({ enforcement }: DeploymentUnit, reader: WireReader): SpecInput["enforcement"] {
  if (enforcement === undefined) return undefined;
  const path = pathOf(UNIT_PATH, "enforcement");
  const dimensions = enforcement.dimensions.flatMap(
    (value, index) => reader.enumWord(enforcementDimensionWords, value, pathOf(path, "dimensions", index)) ?? [],
  );
  const mode = reader.enumWord(enforcementModeWords, enforcement.mode, pathOf(path, "mode"));
  const { maxReplicas } = enforcement;
  return mode === undefined && dimensions.length === 0 && maxReplicas === undefined
    ? undefined
    : omitUndefined({ mode, dimensions: nonEmptyList(dimensions), max_replicas: maxReplicas });
}

/** Keys of config become environment variables; the schema of the object only limits their number. */
function configViolations({ functions }: DeploymentUnit): Violation[] {
  return functions.flatMap(({ config }, index) =>
    Object.keys(config).flatMap((key) =>
      checkText(CONFIG_KEY, key, pathOf(UNIT_PATH, "functions", index, "config", key)),
    ),
  );
}

/** Fields with another path in the unit, longest first. */
const MOVED: readonly (readonly [object: Path, unit: Path])[] = [
  [
    ["spec", "odgm_config", "event_processing"],
    ["odgm_config", "events"],
  ],
  [
    ["spec", "odgm_config", "node_id"],
    ["odgm_config", "odgm_node_id"],
  ],
  [["spec", "origin", "deployment_id"], ["id"]],
  [["spec", "package_class_key"], ["class_key"]],
  [["spec", "target_environment"], ["environment"]],
  [["spec", "state_spec"], ["state"]],
  [
    ["spec", "addons"],
    ["addons", "names"],
  ],
  [["spec", "origin"], []],
  [["metadata", "name"], ["id"]],
  [["spec"], []],
];

/** Maps a path in the object to the path in the unit. */
function wirePath(path: Path): Path {
  const moved = MOVED.find(([from]) => from.every((key, index) => path[index] === key));
  const there = moved === undefined ? path : [...moved[1], ...path.slice(moved[0].length)];
  const [first, second, key, ...rest] = there;
  if (first !== "odgm_config" || key === undefined) return there;
  if (second === "env_node_ids") return [first, second, key, "ids", ...rest];
  return second === "collection_assignments" ? [first, second, key, "assignments", ...rest] : there;
}
