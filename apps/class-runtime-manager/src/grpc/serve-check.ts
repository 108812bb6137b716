import { err, ok } from "@oaas/foundation";
import { chooseAndRender } from "../templates/choose-and-render.ts";
import type { ClusterFacts, Environment } from "../templates/facts.ts";
import { BUILTIN_TEMPLATES } from "../templates/registry.ts";
import type { Template } from "../templates/template.ts";
import type { ServeCheck } from "./ports.ts";
import { refusalFault } from "./refusal-fault.ts";

/** What decides about a class besides the class itself, as it is at the moment. */
export interface Circumstances {
  readonly facts: (namespace: string) => ClusterFacts;
  readonly environmentOf: (namespace: string, wanted: string | undefined) => Environment | undefined;
  readonly userTemplates: (namespace: string) => readonly Template[];
}

/** Renders a class as the controller would, without writing anything, so that what cannot become anything is refused at once. */
export function createServeCheck({ facts, environmentOf, userTemplates }: Circumstances): ServeCheck {
  return {
    canServe: ({ apiVersion, kind, metadata, spec }) => {
      const { name, namespace = "", labels, uid = "" } = metadata;
      const environment = environmentOf(namespace, spec.target_environment);
      const input = {
        owner: { apiVersion, kind, namespace, name, uid, ...(labels === undefined ? {} : { labels }) },
        spec,
        cluster: facts(namespace),
        ...(environment === undefined ? {} : { environment }),
      };
      const chosen = chooseAndRender(input, [...BUILTIN_TEMPLATES, ...userTemplates(namespace)]);
      return chosen.ok ? ok(undefined) : err(refusalFault(chosen.error));
    },
  };
}
