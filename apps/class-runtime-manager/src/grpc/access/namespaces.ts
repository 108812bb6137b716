import { failedPrecondition, invalidArgument, violationsUnder } from "@oaas/foundation";
import { checkName } from "@oaas/kube-core";
import type { NamespaceScope } from "../../config.ts";

/** The served namespaces, and the default of requests without one. */
export interface NamespaceRules {
  readonly served: NamespaceScope;
  readonly fallback: string;
}

/** Derives the rules from the configured scope; `own` is the namespace of the pod or of the kubeconfig context. */
export function namespaceRules(scope: NamespaceScope | undefined, own: string | undefined): NamespaceRules {
  const fallback = own === undefined || own === "" ? "default" : own;
  if (scope === undefined) return { served: [fallback], fallback };
  return { served: scope, fallback: scope === "all" ? fallback : (scope[0] ?? fallback) };
}

/** The namespace of a request, if it has one. Throws if the name is invalid or the namespace is not served. */
export function requestedNamespace({ served }: NamespaceRules, requested: string | undefined): string | undefined {
  if (requested === undefined || requested === "") return undefined;
  const violations = violationsUnder("$.namespace", checkName("dns-1123-label", requested));
  if (violations.length > 0) throw invalidArgument("the request", violations);
  if (served === "all" || served.includes(requested)) return requested;
  throw failedPrecondition(
    `namespace "${requested}"`,
    `namespace "${requested}" is not served; use one of ${served.join(", ")}`,
  );
}
