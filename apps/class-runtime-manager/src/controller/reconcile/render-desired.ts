import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Violation } from "@oaas/foundation";
import { keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import { classEnforcement } from "../../enforcement/class-enforcement.ts";
import { enforcedValues } from "../../enforcement/enforced-values.ts";
import type { Expected, Problem } from "../../lifecycle/observation/observation.ts";
import { problem, problemFromViolations } from "../../lifecycle/observation/problem.ts";
import { runningChildren } from "../../rendering/workloads/running-children.ts";
import {
  BUILTIN_TEMPLATES,
  chooseAndRender,
  FUNCTION_KEY_ANNOTATION,
  OWNER_LABEL,
  ownerLabelValue,
  templateStatus,
  type SelectedAndRendered,
  type Environment,
  type Manifest,
  type Refusal,
  type RenderedFunction,
  type RenderedOdgm,
  type RenderInput,
  type ExistingStore,
} from "../../templates/index.ts";
import { storedLayout } from "../../odgm/plan/stored-layout.ts";
import { COMPONENT_LABEL } from "../../rendering/manifests/labels.ts";
import { odgmNames } from "../../rendering/plan/names.ts";
import type { LiveChild } from "../children/child-cache.ts";
import { isOwnedBy } from "../children/ownership.ts";
import type { EnvironmentDemand } from "../quotas/quotas.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import type { HeldRevision } from "../user-templates/user-templates.ts";

/** The children that a class should have, or the problems that prevent rendering them. */
export interface DesiredChildren {
  readonly expected?: Expected & {
    readonly children: readonly Manifest[];
    readonly functions: readonly RenderedFunction[];
    readonly odgm?: RenderedOdgm;
  };
  readonly problems: readonly Problem[];
  /** Accepted settings that do not work as stated. */
  readonly warnings?: readonly Violation[];
}

/**
 * Parses the class, renders it with a template and checks the quotas of its environment: `admit` claims the quota,
 * `check` does not. Reads only caches and the quota ledger.
 */
export function renderDesired<T extends KubeObject>(
  object: Stored<T>,
  deps: ReconcileDeps<T>,
  quota: "admit" | "check",
): DesiredChildren {
  const outcome = render(object, deps);
  if ("problem" in outcome) return { problems: [outcome.problem] };
  const { selection, rendered } = outcome.chosen;
  const { children, warnings, revision: _revision, ...parts } = rendered;
  const shared = sharedCollections(object, rendered.odgm, deps);
  if (shared.length > 0) return { problems: [problemFromViolations(shared, "NameTaken")] };
  const { name: kind } = deps.classKind;
  if (outcome.environment) {
    const demand = { environment: outcome.environment, children: runningChildren(children, rendered.functions) };
    const broken =
      quota === "admit" ? deps.quotas.admit(kind, object, demand) : deps.quotas.check(kind, keyOf(object), demand);
    if (broken.length > 0) return { problems: [problemFromViolations(broken, "Quota")] };
  } else if (quota === "admit") deps.quotas.release(kind, object);
  return {
    problems: [],
    warnings,
    expected: { ...parts, children, template: templateStatus(selection, outcome.held) },
  };
}

type RenderOutcome =
  | {
      readonly chosen: SelectedAndRendered;
      readonly environment: Environment | undefined;
      readonly held: HeldRevision | undefined;
    }
  | { readonly problem: Problem };

function render<T extends KubeObject>(object: Stored<T>, deps: ReconcileDeps<T>): RenderOutcome {
  const read = deps.classKind.read(object);
  if (!read.ok) return { problem: problemFromViolations(read.error) };
  const resolved = deps.templateSources.resolveEnvironment(
    object.metadata.namespace ?? "",
    read.value.spec.target_environment,
  );
  if (!resolved.ok) return { problem: problem(resolved.error.reason, resolved.error.message) };
  const environment = resolved.value;
  const input = renderInput(object, read.value, environment, deps);
  const offer = deps.templates.templatesFor(deps.classKind.owner.kind, keyOf(object), deps.classKind.statusOf(object));
  const chosen = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...offer.templates]);
  if (chosen.ok) return { chosen: chosen.value, environment, held: offer.held };
  const refused = refusalToProblem(explainInvalidTemplate(chosen.error, read.value, object, deps));
  if (offer.fallback === undefined || chosen.error.kind !== "invalid") return { problem: refused };
  // The class renders with its current revision; only the new one cannot serve it.
  const fallback = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...offer.fallback.templates]);
  if (!fallback.ok) return { problem: refused };
  const held = offer.fallback.held && { ...offer.fallback.held, message: `Cannot be rendered: ${refused.message}` };
  return { chosen: fallback.value, environment, held };
}

/** Says in the refusal that the named template exists but is invalid. */
function explainInvalidTemplate<T extends KubeObject>(
  refusal: Refusal,
  { spec }: ClassRuntime,
  { metadata }: Stored<T>,
  { templateSources }: ReconcileDeps<T>,
): Refusal {
  const named = refusal.kind === "missing" ? spec.selected_template : undefined;
  if (named === undefined || templateSources.findTemplateObject(metadata.namespace ?? "", named) === undefined)
    return refusal;
  return { ...refusal, message: `DeploymentTemplate "${named}" is invalid, see its status; ${refusal.message}` };
}

/** Renders the demand of a class on its environment; undefined when it cannot be rendered or has no environment. */
export function renderDemand<T extends KubeObject>(
  object: Stored<T>,
  deps: ReconcileDeps<T>,
): EnvironmentDemand | undefined {
  const outcome = render(object, deps);
  if ("problem" in outcome || outcome.environment === undefined) return undefined;
  const { children, functions } = outcome.chosen.rendered;
  return { environment: outcome.environment, children: runningChildren(children, functions) };
}

/** The environment of a class; undefined without one, or while it cannot be used. */
export function environmentOfClass<T extends KubeObject>(
  object: Stored<T>,
  { classKind, templateSources }: Pick<ReconcileDeps<T>, "classKind" | "templateSources">,
): Environment | undefined {
  const { namespace = "" } = object.metadata;
  if (!templateSources.hasEnvironments(namespace)) return undefined;
  const read = classKind.read(object);
  if (!read.ok) return undefined;
  const resolved = templateSources.resolveEnvironment(namespace, read.value.spec.target_environment);
  return resolved.ok ? resolved.value : undefined;
}

function renderInput<T extends KubeObject>(
  object: Stored<T>,
  runtime: ClassRuntime,
  environment: Environment | undefined,
  deps: ReconcileDeps<T>,
): RenderInput {
  const { name, uid, labels, annotations } = object.metadata;
  const namespace = object.metadata.namespace ?? "";
  const cluster = deps.facts(namespace);
  const status = deps.classKind.statusOf(object);
  const enforcement = classEnforcement(runtime.spec, annotations, cluster.enforcement ?? "off", environment);
  const store = runningStore(object, status, deps);
  const enforced = enforcedValues(status, enforcement, cluster.capabilities.podResize);
  return {
    owner: { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, ...(labels ? { labels } : {}) },
    spec: runtime.spec,
    cluster,
    assignedNames: assignedNames(status, deps.children.childrenOf(uid)),
    isEnforced: enforcement.mode === "enforce" && enforcement.dimensions.has("replicas"),
    ...(enforced.size > 0 ? { enforced } : {}),
    ...store,
    ...(environment ? { environment } : {}),
  };
}

/** The state store of a class as it runs. */
export function runningStore(
  { metadata }: Stored<KubeObject>,
  status: ClassRuntimeStatus | undefined,
  { applier, children }: Pick<ReconcileDeps<KubeObject>, "applier" | "children">,
): ExistingStore {
  const { name, namespace = "", uid } = metadata;
  const config = applier.newestConfigMap({ namespace, name: odgmNames(name).config });
  const workloads = children
    .childrenOf(uid)
    .map((child) => child.object)
    .filter(isStoreWorkload);
  const isOwn = config !== undefined && (isOwnedBy(config, uid) || isOwnerless(config, name));
  const layout = storedLayout(isOwn ? config : undefined, workloads, status);
  return {
    ...(layout === undefined ? {} : { storedLayout: layout }),
    ...(workloads.length === 0 ? {} : { storeWorkloads: workloads }),
  };
}

/**
 * Collections of a new state store that another class in the same routers' reach has: both would share their objects. A
 * store that runs is not stopped for it.
 */
function sharedCollections<T extends KubeObject>(
  { metadata }: Stored<T>,
  odgm: RenderedOdgm | undefined,
  { children, facts }: ReconcileDeps<T>,
): readonly Violation[] {
  const { namespace = "", uid } = metadata;
  const { routers, routerNamespace } = facts(namespace);
  if (odgm === undefined || odgm.isRunning || routers.length === 0) return [];
  return odgm.collections.flatMap(({ name }) => {
    const other = children
      .listStoresOf(name)
      .find(
        (config) =>
          !isOwnedBy(config, uid) && (routerNamespace !== undefined || config.metadata.namespace === namespace),
      );
    if (other === undefined) return [];
    const owner = other.metadata.ownerReferences?.[0]?.name ?? other.metadata.name;
    return [
      {
        path: "$.odgm_config.collections",
        message: `collection ${name} belongs to class ${other.metadata.namespace ?? ""}/${owner}, whose state store uses the same routers: both classes would share their objects`,
        fix: "set odgm_config.collections to other names",
      },
    ];
  });
}

/** Whether a ConfigMap of the class lost its owner reference; the next apply restores it. */
function isOwnerless({ metadata }: KubeObject, className: string): boolean {
  return (metadata.ownerReferences ?? []).length === 0 && metadata.labels?.[OWNER_LABEL] === ownerLabelValue(className);
}

function isStoreWorkload({ kind, metadata }: KubeObject): boolean {
  return (kind === "StatefulSet" || kind === "Deployment") && metadata.labels?.[COMPONENT_LABEL] === "odgm";
}

/** The names that functions already have. A function keeps its name when others are added or removed. */
function assignedNames(
  status: ClassRuntimeStatus | undefined,
  children: readonly LiveChild[],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { object } of children) {
    const key = object.metadata.annotations?.[FUNCTION_KEY_ANNOTATION];
    if (key === undefined || !["Deployment", "StatefulSet", "DaemonSet", "Job", "Service"].includes(object.kind))
      continue;
    // The name of a Job ends with the hash of its spec; its label has the name of the function.
    const name = object.kind === "Job" ? object.metadata.labels?.["app"] : object.metadata.name;
    if (name !== undefined) names.set(key, name);
  }
  for (const { function_key: key, service } of status?.functions ?? []) if (service) names.set(key, service);
  return names;
}

function refusalToProblem(refusal: Refusal): Problem {
  const known = refusal.known.length === 0 ? "" : ` Known: ${refusal.known.join(", ")}.`;
  const reasons = {
    missing: "TemplateMissing",
    "not-eligible": "TemplateMissing",
    "addon-unknown": "ApplyInvalid",
    "addon-disabled": "OdgmDisabled",
    invalid: "ApplyInvalid",
  } as const;
  return problem(reasons[refusal.kind], refusal.message + known);
}
