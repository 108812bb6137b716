import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import { keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import type { Expected, Problem } from "../../lifecycle/observation/observation.ts";
import { problem, problemFromViolations } from "../../lifecycle/observation/problem.ts";
import {
  BUILTIN_TEMPLATES,
  chooseAndRender,
  FUNCTION_KEY_ANNOTATION,
  templateChoice,
  type Chosen,
  type Environment,
  type Manifest,
  type Refusal,
  type RenderInput,
} from "../../templates/index.ts";
import type { PresentChild } from "../children/child-cache.ts";
import type { EnvironmentDemand } from "../quotas/quotas.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import type { Held } from "../user-templates/user-templates.ts";

/** What a class should consist of, or why that cannot be said. */
export interface Wanted {
  readonly expected?: Expected & { readonly children: readonly Manifest[] };
  readonly problems: readonly Problem[];
}

/**
 * Reads the class and lets the templates decide, and then the quotas of its environment: `settle` lets it in, `check` only asks. Pure but for the
 * caches and the ledger it looks at.
 */
export function want<T extends KubeObject>(
  object: Stored<T>,
  deps: ReconcileDeps<T>,
  quota: "settle" | "check",
): Wanted {
  const made = render(object, deps);
  if ("problem" in made) return { problems: [made.problem] };
  const { selection, rendered } = made.chosen;
  const { children, warnings: _warnings, revision: _revision, ...parts } = rendered;
  const { name: subject } = deps.subject;
  if (made.environment) {
    const wanted = { environment: made.environment, children };
    const broken =
      quota === "settle"
        ? deps.quotas.settle(subject, object, wanted)
        : deps.quotas.check(subject, keyOf(object), wanted);
    if (broken.length > 0) return { problems: [problemFromViolations(broken, "Quota")] };
  } else if (quota === "settle") deps.quotas.release(subject, object);
  return {
    problems: [],
    expected: { ...parts, children, template: templateChoice(selection, made.held) },
  };
}

type Made =
  | { readonly chosen: Chosen; readonly environment: Environment | undefined; readonly held: Held | undefined }
  | { readonly problem: Problem };

function render<T extends KubeObject>(object: Stored<T>, deps: ReconcileDeps<T>): Made {
  const read = deps.subject.read(object);
  if (!read.ok) return { problem: problemFromViolations(read.error) };
  const input = renderInput(object, read.value, deps);
  const { environment } = input;
  const offer = deps.templates.offerTo(deps.subject.owner.kind, keyOf(object), deps.subject.statusOf(object));
  const chosen = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...offer.templates]);
  if (chosen.ok) return { chosen: chosen.value, environment, held: offer.held };
  const problem = problemOfRefusal(withInvalid(chosen.error, read.value, object, deps));
  if (offer.former === undefined || chosen.error.kind !== "invalid") return { problem };
  // The class is fine with what it has: it is the new revision that cannot serve it.
  const former = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...offer.former.templates]);
  if (!former.ok) return { problem };
  const held = offer.former.held && { ...offer.former.held, message: `Cannot be made with it: ${problem.message}` };
  return { chosen: former.value, environment, held };
}

/** A template that is there and cannot be used is not simply missing. */
function withInvalid<T extends KubeObject>(
  refusal: Refusal,
  { spec }: ClassRuntime,
  { metadata }: Stored<T>,
  { surroundings }: ReconcileDeps<T>,
): Refusal {
  const named = refusal.kind === "missing" ? spec.selected_template : undefined;
  if (named === undefined || surroundings.templateObject(metadata.namespace ?? "", named) === undefined) return refusal;
  return { ...refusal, message: `DeploymentTemplate "${named}" is invalid, as its status says; ${refusal.message}` };
}

/** What a class would ask of its environment, for those who count. */
export function demandFor<T extends KubeObject>(
  object: Stored<T>,
  deps: ReconcileDeps<T>,
): EnvironmentDemand | undefined {
  const made = render(object, deps);
  if ("problem" in made || made.environment === undefined) return undefined;
  return { environment: made.environment, children: made.chosen.rendered.children };
}

/** The environment a class belongs to. */
export function environmentOf<T extends KubeObject>(
  object: Stored<T>,
  { subject, surroundings }: Pick<ReconcileDeps<T>, "subject" | "surroundings">,
): Environment | undefined {
  const { namespace = "" } = object.metadata;
  if (!surroundings.hasEnvironments(namespace)) return undefined;
  const read = subject.read(object);
  return read.ok ? surroundings.environmentOf(namespace, read.value.spec.target_environment) : undefined;
}

function renderInput<T extends KubeObject>(
  object: Stored<T>,
  runtime: ClassRuntime,
  deps: ReconcileDeps<T>,
): RenderInput {
  const { name, uid, labels } = object.metadata;
  const namespace = object.metadata.namespace ?? "";
  const environment = deps.surroundings.environmentOf(namespace, runtime.spec.target_environment);
  return {
    owner: { apiVersion: object.apiVersion, kind: object.kind, namespace, name, uid, ...(labels ? { labels } : {}) },
    spec: runtime.spec,
    cluster: deps.facts(namespace),
    assignedNames: assignedNames(deps.subject.statusOf(object), deps.children.childrenOf(uid)),
    ...(environment ? { environment } : {}),
  };
}

/** A function keeps the name it was given, whatever is added or removed around it. */
function assignedNames(
  status: ClassRuntimeStatus | undefined,
  children: readonly PresentChild[],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { object } of children) {
    const key = object.metadata.annotations?.[FUNCTION_KEY_ANNOTATION];
    if (key !== undefined && ["Deployment", "StatefulSet", "DaemonSet", "Job", "Service"].includes(object.kind))
      names.set(key, object.metadata.name);
  }
  for (const { function_key: key, service } of status?.functions ?? []) if (service) names.set(key, service);
  return names;
}

function problemOfRefusal(refusal: Refusal): Problem {
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
