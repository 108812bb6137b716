import { invalidArgument, violationsUnder } from "@oaas/foundation";
import { checkName } from "@oaas/kube-core";
import type { NamespaceScope } from "../../setting-kinds.ts";

/** The served namespaces, and the default of requests without one. */
export interface NamespaceRules {
  readonly served: "all" | readonly string[];
  /** The default of requests without a namespace, if it is served; never a system namespace. */
  readonly fallback: string;
  /** The namespace of the manager's pod. */
  readonly own?: string | undefined;
  /** System namespaces that are served beside all others. */
  readonly listed?: readonly string[];
}

/** Namespaces of the process. */
export interface ProcessNamespaces {
  /** The namespace of the kubeconfig context. */
  readonly context?: string | undefined;
  /** The namespace of the pod; undefined outside of a cluster. */
  readonly pod?: string | undefined;
}

/** Derives the rules from the configured scope. A system namespace is never the default, even if it is listed. */
export function namespaceRules(scope: NamespaceScope | undefined, { context, pod }: ProcessNamespaces): NamespaceRules {
  const { all = false, listed = [] } = scope ?? {};
  const isUsable = (name: string | undefined): name is string =>
    name !== undefined && name !== "" && !isSystem(name, pod);
  const candidates = listed.length === 0 || all ? [...listed, context] : listed;
  const fallback = candidates.find(isUsable) ?? "default";
  if (all) return { served: "all", fallback, own: pod, listed };
  return { served: listed.length === 0 ? [fallback] : listed, fallback };
}

/** The namespace of a request, if it has one. Throws if the name is invalid or the namespace is not served. */
export function requestedNamespace({ served }: NamespaceRules, requested: string | undefined): string | undefined {
  if (requested === undefined || requested === "") return undefined;
  const violations = violationsUnder("$.namespace", checkName("dns-1123-label", requested));
  if (violations.length > 0) throw invalidArgument("the request", violations);
  if (served === "all" || served.includes(requested)) return requested;
  throw invalidArgument("the request", [
    {
      path: "$.namespace",
      message: `"${requested}" is not served by the manager`,
      fix: `use one of ${served.join(", ")}, or add it to the manager's OPRC_CRM_K8S_NAMESPACE`,
    },
  ]);
}

/** The namespace of requests without one; undefined if the manager serves none that may be a default. */
export function defaultNamespace({ served, fallback }: NamespaceRules): string | undefined {
  return served === "all" || served.includes(fallback) ? fallback : undefined;
}

/** The default namespace. Throws if there is none, so that the request must name its namespace. */
export function requireDefaultNamespace(rules: NamespaceRules): string {
  const found = defaultNamespace(rules);
  if (found !== undefined) return found;
  throw invalidArgument("the request", [
    {
      path: "$.namespace",
      message: "is missing, and the manager has no default namespace: it serves only system namespaces",
      fix: `set it to one of ${[rules.served].flat().join(", ")}`,
    },
  ]);
}

/** Namespaces that a manager of all namespaces rejects for changes, besides `kube-*`. */
export function rejectedNamespaces({ served, own, listed = [] }: NamespaceRules): readonly string[] {
  return served !== "all" || own === undefined || listed.includes(own) ? [] : [own];
}

/** Throws unless callers may change classes in this namespace. A system namespace must be listed by name. */
export function assertWritable({ served, own, listed = [] }: NamespaceRules, namespace: string): void {
  if (served !== "all" || !isSystem(namespace, own) || listed.includes(namespace)) return;
  const kind = namespace === own ? "is the namespace of the manager" : "is a system namespace";
  throw invalidArgument("the request", [
    {
      path: "$.namespace",
      message: `"${namespace}" ${kind}, in which no classes may be deployed`,
      fix: `choose another namespace, or list it in the manager's settings: OPRC_CRM_K8S_NAMESPACE=*,${namespace}`,
    },
  ]);
}

function isSystem(namespace: string, own: string | undefined): boolean {
  return namespace.startsWith("kube-") || namespace === own;
}
