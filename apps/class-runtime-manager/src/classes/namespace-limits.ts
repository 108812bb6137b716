import type { Ambient } from "@oaas/foundation";
import type { ObjectKey } from "@oaas/kube-core";
import { Controller, mapped, settled, specChanged, type Source } from "@oaas/kube-runtime";
import type { Logger, Meter } from "@oaas/observability";
import type { TemplateSources } from "../controller/user-templates/template-sources.ts";
import type { Environment } from "../rendering/model/cluster-facts.ts";
import type { ClassDirectory, NamespaceProvisioner } from "./ports.ts";

/** Dependencies of the controller of namespace limits. */
export interface NamespaceLimitsDeps {
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly directory: Pick<ClassDirectory, "list" | "onChange">;
  readonly templateSources: Pick<TemplateSources, "environments" | "resolveEnvironment">;
  readonly provisioner: Pick<NamespaceProvisioner, "update">;
}

/** Applies a changed environment, or another one that classes moved to, to the limits of the namespaces that use it. */
export function namespaceLimitsController(deps: NamespaceLimitsDeps): Controller {
  const { ambient, logger, meter, directory, templateSources, provisioner } = deps;
  const namespaces = (): ObjectKey[] =>
    [...new Set(Array.from(directory.list(), ({ metadata }) => metadata.namespace))].map(keyOfNamespace);
  const movedClasses: Source = (enqueue) =>
    directory.onChange((change) => {
      if (change.type !== "updated") return;
      const { object, previous } = change;
      if (object.spec.target_environment !== previous.spec.target_environment)
        enqueue(keyOfNamespace(object.metadata.namespace));
    });
  return new Controller({
    name: "namespace-limits",
    ambient,
    logger,
    meter,
    concurrency: 1,
    sources: [mapped(templateSources.environments, namespaces, { when: specChanged }), movedClasses],
    reconcile: async ({ name }, { signal }) => {
      const common = commonEnvironment(name, deps);
      if (common !== undefined) await provisioner.update(name, common.environment, signal);
      return settled();
    },
  });
}

function keyOfNamespace(name: string): ObjectKey {
  return { namespace: "", name };
}

/**
 * The environment of all classes of a namespace. Undefined without classes, while an environment is missing or invalid,
 * and when the classes use several: then the limits stay those of the last deployment.
 */
function commonEnvironment(
  namespace: string,
  { directory, templateSources }: NamespaceLimitsDeps,
): { readonly environment: Environment | undefined } | undefined {
  const found = new Map<string | undefined, Environment | undefined>();
  for (const { metadata, spec } of directory.list()) {
    if (metadata.namespace !== namespace) continue;
    const environment = templateSources.resolveEnvironment(namespace, spec.target_environment);
    if (!environment.ok) return undefined;
    found.set(environment.value?.name, environment.value);
  }
  const [environment] = found.values();
  return found.size === 1 ? { environment } : undefined;
}
