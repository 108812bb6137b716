import type { ListClassRuntimesRequest, WatchClassRuntimesRequest } from "@oaas/contracts/grpc";
import { invalidArgument } from "@oaas/foundation";
import { DeploymentCondition, LifecyclePhase } from "@oaas/models";
import { classParts } from "../../mapping/unit/class-runtime-to-unit.ts";
import { isInState } from "../../mapping/status/class-runtime-to-wire.ts";
import { deploymentIdOf } from "../../mapping/object-identity.ts";
import { requestedNamespace, type NamespaceRules } from "../access/namespaces.ts";
import type { StoredClass } from "../../classes/ports.ts";

/** Whether a class runtime is among those a caller asks for. */
export type ClassFilter = (object: StoredClass) => boolean;

const STATES: readonly string[] = [
  ...new Set([...Object.values(LifecyclePhase), ...Object.values(DeploymentCondition)]),
];

/** The filters of a list; each one that is given must hold. A state that does not exist is refused. */
export function listFilter(request: ListClassRuntimesRequest, namespaces: NamespaceRules): ClassFilter {
  const { status, targetEnv } = request;
  if (given(status) && !STATES.includes(status.toLowerCase())) {
    throw invalidArgument("the request", [
      { path: "$.status", message: `"${status}" is no state`, fix: `use one of ${STATES.join(", ")}` },
    ]);
  }
  return all([
    commonFilter(request, namespaces),
    given(status) && ((object) => isInState(object, status)),
    given(targetEnv) && ((object) => environmentsOf(object).includes(targetEnv)),
  ]);
}

/** The filters of a watch; each one that is given must hold. */
export function watchFilter(request: WatchClassRuntimesRequest, namespaces: NamespaceRules): ClassFilter {
  const { deploymentId } = request;
  return all([
    commonFilter(request, namespaces),
    given(deploymentId) && ((object) => deploymentIdOf(object) === deploymentId),
  ]);
}

type Common = Pick<ListClassRuntimesRequest, "packageName" | "classKey" | "namespace" | "deploymentKey" | "managedBy">;

function commonFilter(request: Common, rules: NamespaceRules): ClassFilter {
  const { packageName, classKey, deploymentKey, managedBy } = request;
  const namespace = requestedNamespace(rules, request.namespace);
  return all([
    namespace !== undefined && (({ metadata }) => metadata.namespace === namespace),
    given(packageName) && (({ spec }) => classParts(spec.package_class_key ?? "").packageName === packageName),
    given(classKey) &&
      (({ spec: { package_class_key: key = "" } }) => key === classKey || classParts(key).classKey === classKey),
    given(deploymentKey) && (({ spec }) => spec.origin?.deployment_key === deploymentKey),
    given(managedBy) && (({ spec }) => spec.origin?.managed_by === managedBy),
  ]);
}

/** What peers call the place of a class: the cluster it was sent to, the namespace it is in, or its environment. */
function environmentsOf({ spec, metadata }: StoredClass): readonly (string | undefined)[] {
  return [spec.origin?.target_env, metadata.namespace, spec.target_environment];
}

/** On the wire an empty text is none. */
function given(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

function all(filters: readonly (ClassFilter | false)[]): ClassFilter {
  const real = filters.filter((filter) => filter !== false);
  return (object) => real.every((filter) => filter(object));
}
