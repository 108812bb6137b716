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
import type { ExistingStore } from "../../rendering/model/render-input.ts";
import type { Manifest, Rendered } from "../../rendering/model/rendered.ts";
import type { Refusal, Template } from "../../templates/template.ts";

/** Checks whether this cluster can run a class: template, addons, rendering and quotas, before anything is written. */
export interface ServeCheck {
  /** `existing` is the class that the object replaces. */
  canServe(object: ClassRuntime, existing?: ClassRuntime): Result<void, Fault>;
}

/** Dependencies of the check; each is read when a class is checked. */
export interface ServeCheckDeps {
  readonly facts: (namespace: string) => ClusterFacts;
  readonly environmentOf: (
    namespace: string,
    name: string | undefined,
  ) => Result<Environment | undefined, EnvironmentRefusal>;
  /** The state store of a class as it runs. */
  readonly runningStore: (existing: ClassRuntime) => ExistingStore;
  readonly userTemplates: (namespace: string) => readonly Template[];
  /** The quotas of its environment that a class would exceed. */
  readonly exceededQuotas: (
    object: ClassRuntime,
    demand: { readonly environment: Environment; readonly children: readonly Manifest[] },
  ) => readonly Violation[];
}

/** Renders a class as the controller does, so that Deploy rejects a class that cannot run here. */
export function createServeCheck(deps: ServeCheckDeps): ServeCheck {
  const renderIn = (
    object: ClassRuntime,
    store: ExistingStore,
  ): Result<{ readonly rendered: Rendered; readonly environment: Environment | undefined }, Fault> => {
    const { apiVersion, kind, metadata, spec } = object;
    const { name, namespace = "", labels, uid = "" } = metadata;
    const resolved = deps.environmentOf(namespace, spec.target_environment);
    if (!resolved.ok) return err(failedPrecondition("environment", resolved.error.message));
    const environment = resolved.value;
    const input = {
      owner: { apiVersion, kind, namespace, name, uid, ...(labels === undefined ? {} : { labels }) },
      spec,
      cluster: deps.facts(namespace),
      ...store,
      ...(environment === undefined ? {} : { environment }),
    };
    const chosen = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...deps.userTemplates(namespace)]);
    return chosen.ok ? ok({ rendered: chosen.value.rendered, environment }) : err(refusalFault(chosen.error));
  };
  return {
    canServe: (object, existing) => {
      const store = existing === undefined ? {} : deps.runningStore(existing);
      const result = renderIn(object, store);
      if (!result.ok) return result;
      const { rendered, environment } = result.value;
      const change = statedChange(rendered);
      if (existing !== undefined && change !== undefined) {
        const before = renderIn(existing, store);
        // An update that leaves the layout alone is accepted, whatever the class stated before.
        if (!before.ok || statedChange(before.value.rendered) !== change)
          return err(failedPrecondition("the state store", change));
      }
      if (environment === undefined) return ok(undefined);
      const exceeded = deps.exceededQuotas(object, { environment, children: rendered.children });
      return exceeded.length === 0 ? ok(undefined) : err(quotaFault(environment.name, exceeded));
    },
  };
}

/** The change of the layout of its state store that the class itself states. */
function statedChange({ odgm }: Rendered): string | undefined {
  return odgm?.refusedLayout?.stated;
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
