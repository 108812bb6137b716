import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { Expected, Problem } from "../lifecycle/observation.ts";
import { problem, problemFromViolations } from "../lifecycle/problem.ts";
import {
  BUILTIN_TEMPLATES,
  chooseAndRender,
  FUNCTION_KEY_ANNOTATION,
  templateChoice,
  type Manifest,
  type Refusal,
  type RenderInput,
} from "../templates/index.ts";
import type { PresentChild } from "./child-cache.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";

/** What a class should consist of, or why that cannot be said. */
export interface Wanted {
  readonly expected?: Expected;
  readonly children?: readonly Manifest[];
  readonly problems: readonly Problem[];
}

/** Reads the class and lets the templates decide. Pure but for the caches it reads. */
export function want<T extends KubeObject>(object: Stored<T>, deps: ReconcileDeps<T>): Wanted {
  const read = deps.subject.read(object);
  if (!read.ok) return { problems: [problemFromViolations(read.error)] };
  const namespace = object.metadata.namespace ?? "";
  const input = renderInput(object, read.value, deps);
  const templates = [...BUILTIN_TEMPLATES, ...deps.surroundings.userTemplates(namespace)];
  const chosen = chooseAndRender(input, templates);
  if (!chosen.ok) return { problems: [problemOfRefusal(chosen.error)] };
  const { selection, rendered } = chosen.value;
  const { children, functions, odgm } = rendered;
  return {
    children,
    problems: [],
    expected: { template: templateChoice(selection), children, functions, ...(odgm ? { odgm } : {}) },
  };
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
