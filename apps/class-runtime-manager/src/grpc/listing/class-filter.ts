import type { ListClassRuntimesRequest, WatchClassRuntimesRequest } from "@oaas/contracts/grpc";
import { invalidArgument } from "@oaas/foundation";
import { DeploymentCondition, LifecyclePhase } from "@oaas/models";
import { classParts } from "../../mapping/unit/class-runtime-to-unit.ts";
import { isInState } from "../../mapping/status/class-runtime-to-wire.ts";
import { deploymentIdOf } from "../../mapping/object-identity.ts";
import { requestedNamespace, type NamespaceRules } from "../access/namespaces.ts";
import type { StoredClass } from "../../classes/ports.ts";

/** Selects class runtimes. */
export type ClassFilter = (object: StoredClass) => boolean;

const STATES: readonly string[] = [
  ...new Set([...Object.values(LifecyclePhase), ...Object.values(DeploymentCondition)]),
];

/** The filters of a list; all that are set must match. Throws on an unknown status. */
export function listFilter(request: ListClassRuntimesRequest, namespaces: NamespaceRules): ClassFilter {
  const { status, targetEnv } = request;
  if (isSet(status) && !STATES.includes(status.toLowerCase())) {
    throw invalidArgument("the request", [
      { path: "$.status", message: `"${status}" is not a status`, fix: `use one of ${STATES.join(", ")}` },
    ]);
  }
  return allOf([
    commonFilter(request, namespaces),
    isSet(status) && ((object) => isInState(object, status)),
    isSet(targetEnv) && ((object) => environmentsOf(object).includes(targetEnv)),
  ]);
}

/** The filters of a watch; all that are set must match. */
export function watchFilter(request: WatchClassRuntimesRequest, namespaces: NamespaceRules): ClassFilter {
  const { deploymentId } = request;
  return allOf([
    commonFilter(request, namespaces),
    isSet(deploymentId) && ((object) => deploymentIdOf(object) === deploymentId),
  ]);
}

type CommonFilters = Pick<
  ListClassRuntimesRequest,
  "packageName" | "classKey" | "namespace" | "deploymentKey" | "managedBy"
>;

function commonFilter(request: CommonFilters, rules: NamespaceRules): ClassFilter {
  const { packageName, classKey, deploymentKey, managedBy } = request;
  const namespace = requestedNamespace(rules, request.namespace);
  return allOf([
    namespace !== undefined && (({ metadata }) => metadata.namespace === namespace),
    isSet(packageName) && (({ spec }) => classParts(spec.package_class_key ?? "").packageName === packageName),
    isSet(classKey) &&
      (({ spec: { package_class_key: key = "" } }) => key === classKey || classParts(key).classKey === classKey),
    isSet(deploymentKey) && (({ spec }) => spec.origin?.deployment_key === deploymentKey),
    isSet(managedBy) && (({ spec }) => spec.origin?.managed_by === managedBy),
  ]);
}

/** The values that target_env may match: the target cluster, the namespace or the environment. */
function environmentsOf({ spec, metadata }: StoredClass): readonly (string | undefined)[] {
  return [spec.origin?.target_env, metadata.namespace, spec.target_environment];
}

/** An empty string on the wire means not set. */
function isSet(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

function allOf(filters: readonly (ClassFilter | false)[]): ClassFilter {
  const active = filters.filter((filter) => filter !== false);
  return (object) => active.every((filter) => filter(object));
}
