import { create } from "@bufbuild/protobuf";
import type { ClassRuntime } from "@oaas/contracts/crd";
import {
  DeploymentUnitSchema,
  enforcementDimensionWords,
  enforcementModeWords,
  type DeploymentUnit,
  type EveryField,
  type TelemetrySpec,
} from "@oaas/contracts/grpc";
import { splitClassKey } from "@oaas/models";
import { bindingToWire, functionToWire, nfrToWire } from "./function-wire.ts";
import { deploymentIdOf } from "../object-identity.ts";
import { odgmToWire, stateToWire } from "./odgm-wire.ts";
import { omitUndefined } from "../omit-empty.ts";
import { timestampParts } from "./wire-reader.ts";

/**
 * Converts an object to its unit: the inverse of `unitToClassRuntime`. Fields that the wire format does not have are
 * omitted.
 */
export function classRuntimeToUnit(object: ClassRuntime): DeploymentUnit {
  const { spec, metadata } = object;
  const { origin = {} } = spec;
  const { packageName, classKey } = classParts(spec.package_class_key ?? "");
  const created = timestampParts(origin.created_at ?? metadata.creationTimestamp ?? "");
  return create(
    DeploymentUnitSchema,
    omitUndefined({
      id: deploymentIdOf(object),
      packageName,
      classKey,
      functions: (spec.functions ?? []).map(functionToWire),
      functionBindings: (spec.function_bindings ?? []).map(bindingToWire),
      targetEnv: origin.target_env ?? "",
      createdAt: created,
      odgmConfig: spec.odgm_config === undefined ? undefined : odgmToWire(spec.odgm_config),
      selectedTemplate: spec.selected_template,
      templateHint: spec.template_hint,
      telemetry: telemetryOf(spec),
      nfrRequirements: spec.nfr_requirements === undefined ? undefined : nfrToWire(spec.nfr_requirements),
      state: spec.state_spec === undefined ? undefined : stateToWire(spec.state_spec),
      enforcement: enforcementOf(spec),
      addons: spec.addons === undefined ? undefined : { names: spec.addons },
      revision: origin.revision === undefined ? undefined : BigInt(origin.revision),
      digest: origin.digest,
      packageRevision: origin.package_revision,
      deploymentKey: origin.deployment_key,
      managedBy: origin.managed_by,
      environment: spec.target_environment,
    } satisfies EveryField<DeploymentUnit>),
  );
}

/** Splits a class key; a key without a dot has no package. */
export function classParts(qualified: string): { readonly packageName: string; readonly classKey: string } {
  return splitClassKey(qualified) ?? { packageName: "", classKey: qualified };
}

function telemetryOf({ telemetry }: ClassRuntime["spec"]) {
  if (telemetry === undefined) return undefined;
  return omitUndefined({
    // A telemetry block without `enabled` means enabled.
    enabled: telemetry.enabled ?? true,
    traces: telemetry.traces,
    metrics: telemetry.metrics,
    logs: telemetry.logs,
    samplingRate: telemetry.sampling_rate,
    serviceName: telemetry.service_name,
    resourceAttributes: telemetry.resource_attributes ?? {},
  } satisfies EveryField<TelemetrySpec>);
}

function enforcementOf({ enforcement, nfr }: ClassRuntime["spec"]) {
  const given = enforcement ?? nfr?.enforcement;
  if (given === undefined) return undefined;
  return omitUndefined({
    mode: enforcementModeWords.toWire(given.mode),
    dimensions: (given.dimensions ?? []).map(enforcementDimensionWords.toWire),
    maxReplicas: given.max_replicas,
  });
}
