import { SERVICE_PORT, type ClassPlan } from "../../rendering/plan/class-plan.ts";
import { clusterDomainOf } from "../../rendering/model/cluster-facts.ts";
import { componentLabels, selectorLabels } from "../../rendering/manifests/labels.ts";
import { envList, environmentName } from "../../rendering/manifests/env.ts";
import { omitUndefined } from "../../rendering/manifests/manifest.ts";
import { renderFunctionContainer, renderFunctionPod } from "../../rendering/manifests/pod.ts";
import { alwaysOnReplicas } from "../../rendering/plan/scale.ts";
import type { RenderedOdgm } from "../../rendering/model/rendered.ts";
import type { WorkloadContext } from "../../rendering/manifests/pod.ts";
import type { Scope } from "./language.ts";

/** Known placeholders with descriptions. A path that ends in `.*` accepts any name. */
export const PATHS: Readonly<Record<string, string>> = {
  "class.name": "name of the class runtime",
  "class.namespace": "namespace of the class runtime",
  "class.uid": "uid of the class runtime",
  "class.key": "package and class key",
  "class.deployment_id": "deployment id",
  "class.throughput": "required requests per second",
  "class.latency": "maximum latency required, in milliseconds",
  "class.availability": "required availability, 0 to 1",
  "class.consistency": "required consistency",
  "class.labels.*": "labels of the class runtime",
  "function.name": "name of the function's objects",
  "function.key": "function key",
  "function.image": "image, with registry mirrors applied",
  "function.port": "container port",
  "function.service_port": "port of the function's Service",
  "function.url": "URL of the function",
  "function.replicas": "desired pods",
  "function.min_scale": "minimum replicas",
  "function.max_scale": "maximum replicas, if set",
  "function.max_concurrency": "maximum concurrent requests, 0 for no limit",
  "function.http2": "whether the function uses HTTP/2",
  "function.labels": "all labels of the function's objects",
  "function.selector": "labels that select the function's pods",
  "function.env": "environment variables of the container, as a list",
  "function.resources": "resource requests and limits of the container",
  "function.container": "complete container",
  "function.pod": "complete pod spec",
  "function.config.*": "config of the function",
  "odgm.enabled": "whether the class has a state store",
  "odgm.service": "host and port of the state store",
  "odgm.cluster_id": "cluster id of the state store",
  "odgm.collections": "collection names, comma-separated",
  "environment.name": "name of the environment",
  "environment.kind": "dev, edge or cloud",
  "environment.region": "region",
  "environment.zone": "zone",
  "environment.hw_class": "hardware class",
  "environment.labels.*": "labels of the environment",
  "cluster.profile": "profile of the class runtime manager",
  "cluster.domain": "DNS domain of the cluster",
};

/** Whether a path is a known placeholder. */
export function isKnownPath(path: readonly string[]): boolean {
  return Object.hasOwn(PATHS, path.join(".")) || Object.hasOwn(PATHS, [...path.slice(0, 2), "*"].join("."));
}

/** Suggestions for an unknown path: paths of the same root, or all roots. */
export function similarPaths([root = ""]: readonly string[]): readonly string[] {
  const same = Object.keys(PATHS).filter((path) => path.startsWith(`${root}.`));
  return same.length > 0 ? same : [...new Set(Object.keys(PATHS).map((path) => `${path.split(".")[0]}.…`))];
}

/** Placeholder values of the class. */
export function classScope({ input, requirements }: ClassPlan, odgm: RenderedOdgm | undefined): Scope {
  const { owner, spec, cluster, environment } = input;
  return omitUndefined({
    class: {
      name: owner.name,
      namespace: owner.namespace,
      uid: owner.uid,
      key: spec.package_class_key,
      deployment_id: spec.origin?.deployment_id ?? owner.name,
      throughput: requirements.throughputRps,
      latency: requirements.latencyMs,
      availability: requirements.availability,
      consistency: requirements.consistency,
      labels: owner.labels ?? {},
    },
    odgm: {
      enabled: odgm !== undefined,
      service: odgm?.service,
      cluster_id: odgm?.clusterId,
      collections: odgm?.collections.map(({ name }) => name).join(","),
    },
    environment: {
      name: environmentName(input),
      kind: environment?.spec.kind,
      region: environment?.spec.region ?? cluster.flags.region,
      zone: environment?.spec.zone ?? cluster.flags.zone,
      hw_class: environment?.spec.hw_class ?? cluster.flags.hwClass,
      labels: environment?.spec.labels ?? {},
    },
    cluster: { profile: cluster.profile, domain: clusterDomainOf(cluster) },
  }) as Scope;
}

/** Placeholder values of the class and one function. */
export function functionScope(context: WorkloadContext, scopeOfClass: Scope): Scope {
  const { plan, fn, env } = context;
  const provision = fn.spec.provision_config;
  return {
    ...scopeOfClass,
    function: omitUndefined({
      name: fn.name,
      key: fn.key,
      image: fn.image,
      port: fn.port,
      service_port: SERVICE_PORT,
      url: fn.url,
      replicas: fn.scale.toZero === true ? fn.scale.min : alwaysOnReplicas(fn.scale),
      min_scale: fn.scale.min,
      max_scale: fn.scale.max,
      max_concurrency: provision?.max_concurrency ?? 0,
      http2: provision?.need_http2 === true,
      labels: componentLabels(plan.input, fn.name, "function", fn.key),
      selector: selectorLabels(plan.input, fn.name),
      env: envList(env, provision?.env),
      resources: fn.resources,
      container: renderFunctionContainer(context),
      pod: renderFunctionPod(context),
      config: fn.spec.config ?? {},
    }),
  };
}
