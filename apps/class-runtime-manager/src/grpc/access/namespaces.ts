import { failedPrecondition, invalidArgument, violationsUnder } from "@oaas/foundation";
import { checkName } from "@oaas/kube-core";
import type { NamespaceScope } from "../../config.ts";

/** Which namespaces requests may name, and which one is meant when they name none. */
export interface NamespaceRules {
  readonly served: NamespaceScope;
  readonly fallback: string;
}

/** The rules of a configured scope; `own` is the namespace of the pod or of the kubeconfig's context. */
export function namespaceRules(scope: NamespaceScope | undefined, own: string | undefined): NamespaceRules {
  const fallback = own === undefined || own === "" ? "default" : own;
  if (scope === undefined) return { served: [fallback], fallback };
  return { served: scope, fallback: scope === "all" ? fallback : (scope[0] ?? fallback) };
}

/** The namespace a request names; undefined when it names none. One that is not served, or is none, is refused. */
export function requestedNamespace({ served }: NamespaceRules, requested: string | undefined): string | undefined {
  if (requested === undefined || requested === "") return undefined;
  const violations = violationsUnder("$.namespace", checkName("dns-1123-label", requested));
  if (violations.length > 0) throw invalidArgument("the request", violations);
  if (served === "all" || served.includes(requested)) return requested;
  throw failedPrecondition(
    `namespace "${requested}"`,
    `namespace "${requested}" is not served here; served are: ${served.join(", ")}`,
  );
}
