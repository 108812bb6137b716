import type { ClassRuntime } from "@oaas/contracts/crd";
import {
  err,
  failedPrecondition,
  invalidArgument,
  ok,
  violationsUnder,
  type Fault,
  type Result,
  type Violation,
} from "@oaas/foundation";
import type { EnvironmentRefusal } from "../../templates/environment/environment-refusal.ts";
import { chooseAndRender } from "../../templates/selection/choose-and-render.ts";
import type { ClusterFacts, Environment } from "../../rendering/model/cluster-facts.ts";
import { BUILTIN_TEMPLATES } from "../../templates/builtin/registry.ts";
import type { Manifest } from "../../rendering/model/rendered.ts";
import type { Refusal, Template } from "../../templates/template.ts";

/** Checks whether this cluster can run a class: template, addons, rendering and quotas, before anything is written. */
export interface ServeCheck {
  canServe(object: ClassRuntime): Result<void, Fault>;
}

/** Dependencies of the check; each is read when a class is checked. */
export interface ServeCheckDeps {
  readonly facts: (namespace: string) => ClusterFacts;
  readonly environmentOf: (
    namespace: string,
    name: string | undefined,
  ) => Result<Environment | undefined, EnvironmentRefusal>;
  readonly userTemplates: (namespace: string) => readonly Template[];
  /** The quotas of its environment that a class would exceed. */
  readonly exceededQuotas: (
    object: ClassRuntime,
    demand: { readonly environment: Environment; readonly children: readonly Manifest[] },
  ) => readonly Violation[];
}

/** Renders a class as the controller does, so that Deploy rejects a class that cannot run here. */
export function createServeCheck(deps: ServeCheckDeps): ServeCheck {
  const { facts, environmentOf, userTemplates, exceededQuotas } = deps;
  return {
    canServe: (object) => {
      const { apiVersion, kind, metadata, spec } = object;
      const { name, namespace = "", labels, uid = "" } = metadata;
      const resolved = environmentOf(namespace, spec.target_environment);
      if (!resolved.ok) return err(failedPrecondition("environment", resolved.error.message));
      const environment = resolved.value;
      const input = {
        owner: { apiVersion, kind, namespace, name, uid, ...(labels === undefined ? {} : { labels }) },
        spec,
        cluster: facts(namespace),
        ...(environment === undefined ? {} : { environment }),
      };
      const chosen = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...userTemplates(namespace)]);
      if (!chosen.ok) return err(refusalFault(chosen.error));
      if (environment === undefined) return ok(undefined);
      const exceeded = exceededQuotas(object, { environment, children: chosen.value.rendered.children });
      return exceeded.length === 0 ? ok(undefined) : err(quotaFault(environment.name, exceeded));
    },
  };
}

/** The fault of a class that cannot be rendered. */
function refusalFault({ kind, message, addon, violations }: Refusal): Fault {
  if (kind === "invalid") return invalidArgument("the unit", violationsUnder("$.deployment_unit", violations));
  return failedPrecondition(addon ?? "template", message);
}

/** The fault of a class that exceeds the quotas of its environment. */
function quotaFault(environment: string, exceeded: readonly Violation[]): Fault {
  const reasons = exceeded.map(({ message, fix }) => (fix === undefined ? message : `${message}; ${fix}`));
  return failedPrecondition(`the quotas of environment "${environment}"`, reasons.join("; "));
}
