import type { DeploymentTemplateSpec } from "@oaas/contracts/crd";
import { err, ok, pathOf, ROOT_PATH, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import { alwaysOnReplicas } from "../../rendering/plan/scale.ts";
import { STANDARD_POLICY } from "../../rendering/plan/policy.ts";
import { assembleClass, prepareClass } from "../render-class.ts";
import type { Manifest, Rendered, ReplicasOwner } from "../../rendering/model/rendered.ts";
import { whyNoKnative, type ScalingFacts } from "../../rendering/model/cluster-facts.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Template } from "../template.ts";
import type { FunctionChildren } from "../../rendering/workloads/workload.ts";
import type { WorkloadContext } from "../../rendering/manifests/pod.ts";
import {
  workloadRef,
  callableFunction,
  maximumLimits,
  replicaLimits,
} from "../../rendering/workloads/function-children.ts";
import { renderFunctionService } from "../../rendering/workloads/function-service.ts";
import { hasNetworkPolicy, renderNetworkPolicy } from "../../rendering/manifests/network-policy.ts";
import { componentLabels, ENFORCED_MIN_SCALE_ANNOTATION, selectorLabels } from "../../rendering/manifests/labels.ts";
import type { ClassPlan } from "../../rendering/plan/class-plan.ts";
import { withSuffix } from "../../rendering/plan/names.ts";
import { knativeLimits, PROXY_PORTS } from "../../rendering/workloads/knative-service.ts";
import { completeWorkload, toChildManifest, withResolvedImages } from "./complete.ts";
import { applyLimits, checkObjectLimits, declaredPorts, renderAddedPodsPolicy, withAddedPodLabels } from "./limits.ts";
import { scoreTemplate } from "./criteria.ts";
import type { Scope } from "./language.ts";
import { classScope, functionScope } from "./scope.ts";
import { checkMonitor } from "./monitor-fields.ts";
import { applyScaledObjects, checkScaledObject, countsOf, isScaledObject, whyNotWoken } from "./scaled-object.ts";
import { fixedReplicasReason, followsMaximum } from "./replicas-source.ts";
import { checkTemplate, isPerFunction, manifestsOf, type RawManifest } from "./validate.ts";
import { createsPods, kindOf, WORKLOAD_OF_TYPE } from "./workload-kinds.ts";
import { Budget, fill } from "./walk.ts";

/**
 * Creates a template from a DeploymentTemplate, or returns all violations (paths start at its spec). Its revision is
 * the digest of its spec.
 */
export function userTemplate(objectName: string, spec: DeploymentTemplateSpec): Result<Template, readonly Violation[]> {
  const id = spec.name ?? objectName;
  const violations = checkTemplate(id, spec);
  if (violations.length > 0) return err(violations);
  const revision = hashJson(spec);
  const workload = WORKLOAD_OF_TYPE[spec.template_type];
  const manifests = manifestsOf(spec).map((raw) => ({
    raw,
    perFunction: isPerFunction(raw, spec.template_type),
    isWorkload: kindOf(raw) === workload,
  }));
  return ok({
    id,
    aliases: spec.aliases ?? [],
    byNameOnly: spec.selection_criteria === undefined,
    revision,
    score: (input) => scoreTemplate(input, spec),
    whyNotToZero: (cluster) => whyNotToZero(id, spec, cluster),
    render: (input) => renderUserTemplate(input, { id, spec, revision, manifests }),
  });
}

/** Knative starts the first replica, or a scaler of the template does. */
function whyNotToZero(id: string, spec: DeploymentTemplateSpec, cluster: ScalingFacts): string | undefined {
  const manifests = manifestsOf(spec);
  if (spec.template_type === "Knative")
    return whyNoKnative(cluster) ?? fixedReplicasReason(id, manifests, WORKLOAD_OF_TYPE.Knative);
  return whyNotWoken(manifests, cluster);
}

interface Source {
  readonly id: string;
  readonly spec: DeploymentTemplateSpec;
  readonly revision: string;
  readonly manifests: readonly {
    readonly raw: RawManifest;
    readonly perFunction: boolean;
    readonly isWorkload: boolean;
  }[];
}

function renderUserTemplate(
  input: RenderInput,
  { id, spec, revision, manifests }: Source,
): Result<Rendered, readonly Violation[]> {
  const callable = spec.template_type !== "Job";
  const policy = { ...STANDARD_POLICY, id, defaultPort: spec.template_type === "Knative" ? 8080 : 80 };
  const prepared = prepareClass(input, policy, { callable, resources: spec.resource_requirements });
  if (!prepared.ok) return prepared;
  const { plan, parts } = prepared.value;
  const budget = new Budget();
  const violations: Violation[] = [];
  const scopeOfClass = classScope(plan, parts.find((part) => part.odgm !== undefined)?.odgm);
  const field = spec.manifests === undefined ? "kubernetes_manifests" : "manifests";

  const scaled = manifests.some(({ raw }) => raw.kind === "HorizontalPodAutoscaler");
  const fixed = fixedReplicasReason(
    id,
    manifests.map(({ raw }) => raw),
    WORKLOAD_OF_TYPE[spec.template_type],
  );

  /** The minimums of ScaledObjects at the fewest replicas that enforcement may choose. */
  const lowest = new Map<string, number>();

  const scopeAt = ({
    min,
    max,
    ...context
  }: WorkloadContext & { readonly min: number; readonly max?: number }): Scope => {
    const { fn } = context;
    const scale = { ...fn.scale, min, ...(max === undefined ? {} : { max }) };
    return functionScope({ ...context, fn: { ...fn, scale } }, scopeOfClass);
  };

  /** The values without enforcement, which changes the minimum of a ScaledObject or a Knative Service later. */
  const plannedScope = (scope: Scope, context: WorkloadContext | undefined): Scope =>
    context?.fn.scale.plannedMin === undefined ? scope : scopeAt({ ...context, min: context.fn.scale.plannedMin });

  /** The planned values with the largest maximum that enforcement may choose. */
  const scaledObjectScope = (scope: Scope, context: WorkloadContext | undefined): Scope => {
    const { plannedMin, min = 0, statedMax, limits } = context?.fn.scale ?? {};
    if (context === undefined || statedMax === undefined || limits?.max === undefined)
      return plannedScope(scope, context);
    return scopeAt({ ...context, min: plannedMin ?? min, max: limits.max.value });
  };

  const recordLowest = (raw: RawManifest, { metadata }: Manifest, context: WorkloadContext | undefined): void => {
    const least = context?.fn.scale.limits?.min.value;
    const scope = context === undefined || least === undefined ? scopeOfClass : scopeAt({ ...context, min: least });
    const filled = fill(raw, scope, budget);
    const stated = filled.ok ? countsOf(filled.value as RawManifest).min : undefined;
    if (stated !== undefined) lowest.set(metadata.name ?? "", stated);
  };

  /** Renders the manifests of a function, or without a context those of the class. */
  const renderManifests = (scope: Scope, context?: WorkloadContext): readonly Manifest[] =>
    manifests.flatMap(({ raw, perFunction, isWorkload }, index): Manifest[] => {
      if (perFunction !== (context !== undefined)) return [];
      const isPlanned = isWorkload && spec.template_type === "Knative";
      const fit = isScaledObject(raw) ? scaledObjectScope : isPlanned ? plannedScope : () => scope;
      const filled = fill(raw, fit(scope, context), budget);
      if (!filled.ok) {
        violations.push(...violationsUnder(pathOf(ROOT_PATH, field, index), filled.error));
        return [];
      }
      const object = limitedManifest(plan, filled.value as Readonly<Record<string, unknown>>, context);
      if (!object.ok) {
        violations.push(...violationsUnder(pathOf(ROOT_PATH, field, index), object.error));
        return [];
      }
      if (isScaledObject(raw)) recordLowest(raw, object.value, context);
      if (context !== undefined && isWorkload) return [completeWorkload(object.value, context, scaled)];
      return [withAddedPodLabels(object.value, plan)];
    });

  const addsPods = manifests.some(({ raw, isWorkload }) => !isWorkload && createsPods(raw));
  const isProtected = hasNetworkPolicy(input) || needsNetworkPolicy(input, spec);
  const policies = addsPods && hasNetworkPolicy(input) ? [renderAddedPodsPolicy(plan)] : [];
  const assembled = assembleClass(
    prepared.value,
    (context) =>
      functionChildren(renderManifests(functionScope(context, scopeOfClass), context), context, spec, {
        fixed,
        isMaximumOfClass: followsMaximum(manifests.map(({ raw }) => raw)),
        isProtected,
      }),
    { children: [...renderManifests(scopeOfClass), ...policies], revision },
  );
  const scales = plan.functions.map(({ key, scale }) => ({
    functionKey: key,
    scale,
    enforced: input.enforced?.get(key)?.replicas,
  }));
  const { rendered, violations: unscalable } = applyScaledObjects(assembled, scales, lowest);
  violations.push(...duplicateNames(rendered.children), ...unscalable);
  return violations.length > 0
    ? err(violations.map((violation) => ({ ...violation, message: `template ${id}: ${violation.message}` })))
    : ok(rendered);
}

/** Whether the template promises network policies and leaves them to the manager. */
function needsNetworkPolicy({ cluster }: RenderInput, spec: DeploymentTemplateSpec): boolean {
  return (
    spec.nfr_capabilities?.network_policies === true &&
    cluster.capabilities.networkPolicy &&
    !manifestsOf(spec).some(({ kind }) => kind === "NetworkPolicy")
  );
}

/** Converts a filled manifest to a child within the limits of the environment, or returns all violations. */
function limitedManifest(
  plan: ClassPlan,
  filled: Readonly<Record<string, unknown>>,
  context: WorkloadContext | undefined,
): Result<Manifest, readonly Violation[]> {
  const { environment } = plan.input;
  const child = toChildManifest(plan, filled, context);
  const violations = [...checkMonitor(child), ...checkScaledObject(child), ...checkObjectLimits(child, environment)];
  // Resolve images before ours are added: those are already resolved.
  const object = withResolvedImages(child, environment?.spec.images);
  if (violations.length === 0 && object.ok) return ok(applyLimits(object.value, environment));
  return err([...violations, ...(object.ok ? [] : object.error)]);
}

/** The objects of one function, with a Service unless the template or Knative provides one. */
function functionChildren(
  rendered: readonly Manifest[],
  context: WorkloadContext,
  { template_type: type }: DeploymentTemplateSpec,
  {
    fixed,
    isMaximumOfClass,
    isProtected,
  }: { readonly fixed: string | undefined; readonly isMaximumOfClass: boolean; readonly isProtected: boolean },
): FunctionChildren {
  const { plan, fn } = context;
  const isScaled = type === "Knative" && fixed === undefined && fn.scale.plannedMin !== undefined;
  const objects = isScaled ? rendered.map((object) => withEnforcedMinScale(object, fn.scale.min)) : rendered;
  const workload = objects.find((object) => `${object.apiVersion}/${object.kind}` === WORKLOAD_OF_TYPE[type]);
  const hasService = objects.some(
    ({ apiVersion, kind, metadata }) => apiVersion === "v1" && kind === "Service" && metadata.name === fn.name,
  );
  const needsService = type !== "Job" && type !== "Knative" && !hasService;
  const children = [
    ...objects,
    ...(needsService ? [renderFunctionService(plan, fn)] : []),
    ...(isProtected ? [renderFunctionPolicy(context, type, workload)] : []),
  ];
  const statedReplicas = (workload?.["spec"] as { readonly replicas?: unknown } | undefined)?.replicas;
  const replicas =
    typeof statedReplicas === "number"
      ? statedReplicas
      : type === "Knative"
        ? fn.scale.min
        : alwaysOnReplicas(fn.scale);
  const scaled = objects.some(({ kind }) => kind === "HorizontalPodAutoscaler");
  const scale = {
    ...(type === "DaemonSet" ? {} : { replicas }),
    replicasOwner: replicasOwner(type, scaled),
    ...(fixed === undefined
      ? type === "Knative"
        ? knativeLimits(fn)
        : replicaLimits(fn)
      : { whyReplicasFixed: fixed }),
    ...(fixed === undefined && isMaximumOfClass ? maximumLimits(fn) : {}),
  };
  if (workload === undefined || type === "Job") {
    return {
      children,
      rendered: {
        functionKey: fn.key,
        runtime: "workload",
        ...(workload === undefined ? {} : { workload: workloadRef(workload) }),
        service: "",
        port: 0,
        predictedUrl: "",
        ...scale,
      },
    };
  }
  return { children, rendered: callableFunction(fn, workload, scale) };
}

/** The controller copies the minimum to the revisions, as for built-in templates: another template would restart pods. */
function withEnforcedMinScale(object: Manifest, min: number): Manifest {
  if (`${object.apiVersion}/${object.kind}` !== WORKLOAD_OF_TYPE.Knative) return object;
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [ENFORCED_MIN_SCALE_ANNOTATION]: String(min) };
  return { ...object, metadata: { ...metadata, annotations } };
}

/** The network policy of the pods of a function: only its port and the ports that the template declares are open. */
function renderFunctionPolicy(
  { plan: { input }, fn }: WorkloadContext,
  type: DeploymentTemplateSpec["template_type"],
  workload: Manifest | undefined,
): Manifest {
  return renderNetworkPolicy(input, {
    name: withSuffix(fn.name, "function"),
    labels: componentLabels(input, fn.name, "function", fn.key),
    selector: selectorLabels(input, fn.name),
    ports: type === "Knative" ? PROXY_PORTS : [...new Set([fn.port, ...declaredPorts(workload)])],
  });
}

function replicasOwner(type: DeploymentTemplateSpec["template_type"], scaled: boolean): ReplicasOwner {
  if (type === "Knative") return "knative";
  if (type === "DaemonSet") return "nodes";
  return scaled ? "autoscaler" : "template";
}

/** Two manifests of the same object would overwrite each other in every reconcile. */
function duplicateNames(children: readonly Manifest[]): readonly Violation[] {
  const seen = new Set<string>();
  return children.flatMap(({ apiVersion, kind, metadata }): Violation[] => {
    const key = `${apiVersion}/${kind} ${metadata.name}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [
      {
        path: pathOf(ROOT_PATH, "manifests"),
        message: `two objects have the name ${key}`,
        fix: "use {{ function.name }} or {{ class.name }} in metadata.name",
      },
    ];
  });
}
