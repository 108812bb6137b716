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
import { chooseAndRender } from "../../templates/selection/choose-and-render.ts";
import type { ClusterFacts, Environment } from "../../rendering/model/cluster-facts.ts";
import { BUILTIN_TEMPLATES } from "../../templates/builtin/registry.ts";
import type { Manifest } from "../../rendering/model/rendered.ts";
import type { Refusal, Template } from "../../templates/template.ts";

/** Whether a class could be brought about here: template, addons and rendering are asked before anything is written. */
export interface ServeCheck {
  canServe(object: ClassRuntime): Result<void, Fault>;
}

/** What decides about a class besides the class itself, as it is at the moment. */
export interface Circumstances {
  readonly facts: (namespace: string) => ClusterFacts;
  readonly environmentOf: (namespace: string, wanted: string | undefined) => Environment | undefined;
  readonly userTemplates: (namespace: string) => readonly Template[];
  /** Which quotas of its environment the class would break. */
  readonly brokenQuotas: (
    object: ClassRuntime,
    wanted: { readonly environment: Environment; readonly children: readonly Manifest[] },
  ) => readonly Violation[];
}

/** Renders a class as the controller would, without writing anything, so that what cannot become anything is refused at once. */
export function createServeCheck(circumstances: Circumstances): ServeCheck {
  const { facts, environmentOf, userTemplates, brokenQuotas } = circumstances;
  return {
    canServe: (object) => {
      const { apiVersion, kind, metadata, spec } = object;
      const { name, namespace = "", labels, uid = "" } = metadata;
      const environment = environmentOf(namespace, spec.target_environment);
      const input = {
        owner: { apiVersion, kind, namespace, name, uid, ...(labels === undefined ? {} : { labels }) },
        spec,
        cluster: facts(namespace),
        ...(environment === undefined ? {} : { environment }),
      };
      const chosen = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...userTemplates(namespace)]);
      if (!chosen.ok) return err(refusalFault(chosen.error));
      if (environment === undefined) return ok(undefined);
      const broken = brokenQuotas(object, { environment, children: chosen.value.rendered.children });
      return broken.length === 0 ? ok(undefined) : err(quotaFault(environment.name, broken));
    },
  };
}

/** A class that cannot be brought about here, as callers are told. */
function refusalFault({ kind, message, addon, violations }: Refusal): Fault {
  if (kind === "invalid") return invalidArgument("the unit", violationsUnder("$.deployment_unit", violations));
  return failedPrecondition(addon ?? "template", message);
}

/** A class for which its environment has no room. */
function quotaFault(environment: string, broken: readonly Violation[]): Fault {
  const why = broken.map(({ message, fix }) => (fix === undefined ? message : `${message}; ${fix}`)).join("; ");
  return failedPrecondition(`the quotas of environment "${environment}"`, why);
}
