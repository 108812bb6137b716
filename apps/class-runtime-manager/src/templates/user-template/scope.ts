import { SERVICE_PORT, type ClassPlan } from "../../rendering/plan/class-plan.ts";
import { clusterDomainOf } from "../../rendering/model/cluster-facts.ts";
import { componentLabels, selectorLabels } from "../../rendering/manifests/labels.ts";
import { envList, environmentName } from "../../rendering/manifests/env.ts";
import { withoutUndefined } from "../../rendering/manifests/manifest.ts";
import { functionContainer, functionPod } from "../../rendering/manifests/pod.ts";
import { awakeReplicas } from "../../rendering/plan/scale.ts";
import type { RenderedOdgm } from "../../rendering/model/rendered.ts";
import type { WorkloadContext } from "../../rendering/manifests/pod.ts";
import type { Scope } from "./language.ts";

/** What placeholders may name, with a word on each. A path ending in `.*` holds whatever names its owner gave. */
export const PATHS: Readonly<Record<string, string>> = {
  "class.name": "name of the class's object",
  "class.namespace": "its namespace",
  "class.uid": "its uid",
  "class.key": "package and class",
  "class.deployment_id": "id of the deployment",
  "class.throughput": "requests per second demanded",
  "class.latency": "longest answer demanded, in milliseconds",
  "class.availability": "availability demanded, 0 to 1",
  "class.consistency": "consistency demanded",
  "class.labels.*": "labels of the class's object",
  "function.name": "name of the function's children",
  "function.key": "its key",
  "function.image": "its image, as it is pulled",
  "function.port": "port its container listens on",
  "function.service_port": "port of its Service",
  "function.url": "where it answers",
  "function.replicas": "pods wanted",
  "function.min_scale": "fewest replicas",
  "function.max_scale": "most replicas, when stated",
  "function.max_concurrency": "requests at once, 0 for no limit",
  "function.http2": "whether it speaks HTTP/2",
  "function.labels": "all labels of its children",
  "function.selector": "labels its pods are selected by",
  "function.env": "variables of its container, as a list",
  "function.resources": "requests and limits of its container",
  "function.container": "its whole container",
  "function.pod": "its whole pod spec",
  "function.config.*": "its own settings",
  "odgm.enabled": "whether the class has a state store",
  "odgm.service": "host and port of the state store",
  "odgm.cluster_id": "id of the grid",
  "odgm.collections": "names of its collections, with commas",
  "environment.name": "name of the environment",
  "environment.kind": "dev, edge or cloud",
  "environment.region": "region",
  "environment.zone": "zone",
  "environment.hw_class": "class of hardware",
  "environment.labels.*": "labels of the environment",
  "cluster.profile": "profile of the class runtime manager",
  "cluster.domain": "domain of the cluster",
};

/** Whether a path is one that placeholders may name. */
export function isKnownPath(path: readonly string[]): boolean {
  return Object.hasOwn(PATHS, path.join(".")) || Object.hasOwn(PATHS, [...path.slice(0, 2), "*"].join("."));
}

/** The paths of the same root, or the roots: what was meant by a path that there is not. */
export function likePaths([root = ""]: readonly string[]): readonly string[] {
  const same = Object.keys(PATHS).filter((path) => path.startsWith(`${root}.`));
  return same.length > 0 ? same : [...new Set(Object.keys(PATHS).map((path) => `${path.split(".")[0]}.…`))];
}

/** What is true of the whole class. */
export function classScope({ input, requirements }: ClassPlan, odgm: RenderedOdgm | undefined): Scope {
  const { owner, spec, cluster, environment } = input;
  return withoutUndefined({
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

/** The same with one function. */
export function functionScope(context: WorkloadContext, ofClass: Scope): Scope {
  const { plan, fn, env } = context;
  const provision = fn.spec.provision_config;
  return {
    ...ofClass,
    function: withoutUndefined({
      name: fn.name,
      key: fn.key,
      image: fn.image,
      port: fn.port,
      service_port: SERVICE_PORT,
      url: fn.url,
      replicas: awakeReplicas(fn.scale),
      min_scale: fn.scale.min,
      max_scale: fn.scale.max,
      max_concurrency: provision?.max_concurrency ?? 0,
      http2: provision?.need_http2 === true,
      labels: componentLabels(plan.input, fn.name, "function", fn.key),
      selector: selectorLabels(plan.input, fn.name),
      env: envList(env),
      resources: fn.resources,
      container: functionContainer(context),
      pod: functionPod(context),
      config: fn.spec.config ?? {},
    }),
  };
}
