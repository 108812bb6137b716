import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { hashJson } from "@oaas/foundation/hash";
import type { KubeObject } from "@oaas/kube-core";
import { storedLayout } from "../../../apps/class-runtime-manager/src/odgm/plan/stored-layout.ts";
import type { Manifest } from "../../../apps/class-runtime-manager/src/rendering/model/rendered.ts";
import type { RenderInput } from "../../../apps/class-runtime-manager/src/rendering/model/render-input.ts";
import { CLUSTER } from "../../../apps/class-runtime-manager/src/rendering/testing/inputs.ts";
import { BUILTIN_TEMPLATES } from "../../../apps/class-runtime-manager/src/templates/builtin/registry.ts";
import { chooseAndRender } from "../../../apps/class-runtime-manager/src/templates/selection/choose-and-render.ts";
import { NAMESPACE, type SimCluster } from "./sim-cluster.ts";

/** What an operator changes in one cluster. */
export interface StoreEnvironment {
  /** Version of the image. */
  readonly image: number;
  readonly log: string;
  readonly routers: number;
}

interface RenderedStore {
  readonly manifests: readonly Manifest[];
  /** Running workloads that stay as they are. */
  readonly kept: ReadonlySet<string>;
}

const STORE_KINDS = new Set(["StatefulSet", "ConfigMap"]);
/** Rendering is pure, and the scenarios share most of their inputs. */
const rendered = new Map<string, RenderedStore>();
const MAX_RENDERED = 20_000;

/** The objects of the state store of a class, from the templates of the class runtime manager. */
export function renderStore(cluster: SimCluster, spec: ClassRuntimeSpec, environment: StoreEnvironment): RenderedStore {
  const workloads = cluster.children.filter(({ kind }) => kind === "StatefulSet");
  const config = cluster.children.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name?.includes("odgm"));
  const { image, log, routers } = environment;
  const running = [config, ...workloads].map((child) => child?.metadata.annotations?.["sim/digest"] ?? "");
  const key = [cluster.name, specId(spec), image, log, routers, ...running].join(" ");
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const layout = storedLayout(config, workloads, undefined);
  const input: RenderInput = {
    owner: { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", namespace: NAMESPACE, name: "order", uid: "uid" },
    spec,
    cluster: {
      ...CLUSTER,
      odgm: { image: `example.test/odgm:${environment.image}`, gatesReadiness: true },
      routers: Array.from({ length: environment.routers }, (_, index) => ({ service: `router-${index}`, port: 7447 })),
    },
    ...(layout === undefined ? {} : { storedLayout: layout }),
    ...(workloads.length === 0 ? {} : { storeWorkloads: workloads }),
  };
  const result = chooseAndRender(input, BUILTIN_TEMPLATES);
  const store = result.ok ? partsOf(result.value.rendered) : { manifests: [], kept: keysOf(cluster.children) };
  if (rendered.size > MAX_RENDERED) rendered.clear();
  rendered.set(key, store);
  return store;
}

function partsOf({
  children,
  odgm,
}: {
  readonly children: readonly Manifest[];
  readonly odgm?: { readonly held: readonly { readonly kind: string; readonly name: string }[] };
}): RenderedStore {
  const manifests = children.filter(
    ({ kind, metadata }) => STORE_KINDS.has(kind) && metadata.name?.includes("odgm") === true,
  );
  return { manifests, kept: new Set(odgm?.held.map(({ kind, name }) => `${kind}/${name}`)) };
}

/** A class that cannot be rendered stays as it is. */
function keysOf(children: readonly KubeObject[]): ReadonlySet<string> {
  return new Set(children.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
}

const ids = new WeakMap<object, string>();

/** Identifies a spec by its content. */
export function specId(spec: ClassRuntimeSpec): string {
  let id = ids.get(spec);
  if (id === undefined) ids.set(spec, (id = hashJson(spec)));
  return id;
}
