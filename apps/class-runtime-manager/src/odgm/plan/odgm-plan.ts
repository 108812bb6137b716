import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { RefusedLayout } from "../../rendering/model/rendered.ts";
import type { ClassPlan } from "../../rendering/plan/class-plan.ts";
import { serviceHost } from "../../rendering/plan/class-plan.ts";
import { odgmNames } from "../../rendering/plan/names.ts";
import { collectionRequests, type CollectionRequest } from "./collection-requests.ts";
import type { Collection } from "./collections.ts";
import { eventsOf, triggerWarnings, type Events } from "./events.ts";
import type { StoreLayout } from "./layout-change.ts";
import { gridNodes, type GridNodes } from "./nodes.ts";
import { persistenceProblems } from "./persistence.ts";
import { planLayout } from "./plan-layout.ts";
import { invocationsOf } from "./routes.ts";

/** Port for gRPC and HTTP of the state store and its Service. */
export const ODGM_PORT = 8080;
/** Port that older clients use. */
export const ODGM_HTTP_PORT = 80;
/** Port for connections between nodes and routers. */
export const ZENOH_PORT = 17_447;

/** The state store of a class with all decisions made. */
export interface OdgmPlan {
  readonly classPlan: ClassPlan;
  readonly names: ReturnType<typeof odgmNames>;
  readonly clusterId: string;
  readonly layout: StoreLayout;
  readonly nodes: GridNodes;
  /** The collections as the class describes them. */
  readonly described: readonly Collection[];
  readonly requests: readonly CollectionRequest[];
  readonly events: Events;
  /** Host and port that functions get. */
  readonly service: string;
  readonly refusedLayout: RefusedLayout | undefined;
  readonly violations: readonly Violation[];
  readonly warnings: readonly Violation[];
}

/** Plans the state store of a class: layout, then routes. */
export function planOdgm(classPlan: ClassPlan, isSelected: boolean): OdgmPlan {
  const { input, policy } = classPlan;
  const names = odgmNames(input.owner.name);
  const { layout, described, refused, warnings } = planLayout({ input, defaultNodes: policy.odgmReplicas, isSelected });
  const requests = collectionRequests(layout, input.spec.odgm_config?.options ?? {}, invocationsOf(classPlan));
  const persistence = persistenceProblems(input);
  return {
    classPlan,
    names,
    clusterId: clusterId(classPlan),
    layout,
    nodes: gridNodes(layout),
    described,
    requests,
    events: eventsOf(input),
    service: `${names.service}:${ODGM_PORT}`,
    refusedLayout: refused,
    violations: layout.persistent && input.storedLayout?.persistent === true ? [] : persistence,
    warnings: [
      ...warnings,
      ...(layout.persistent ? persistence : []),
      ...triggerWarnings(input),
      ...collectionSizeWarnings(requests),
    ],
  };
}

/** Linux limits an environment variable to 128 KiB; a pod with a longer one does not start. */
const MAX_VARIABLE = 131_072 - "ODGM_COLLECTION=".length - 1;

function collectionSizeWarnings(requests: readonly CollectionRequest[]): readonly Violation[] {
  const { length } = new TextEncoder().encode(JSON.stringify(requests));
  if (length <= MAX_VARIABLE) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm_config"),
      message: `the collections take ${length} bytes, but an environment variable holds ${MAX_VARIABLE}`,
      fix: "use fewer partitions, collections or routes",
    },
  ];
}

function clusterId({ input }: ClassPlan): string {
  const { spec, environment, owner } = input;
  const prefix = environment?.spec.odgm.defaults?.cluster_id_prefix;
  return spec.odgm_config?.cluster_id ?? (prefix === undefined ? owner.name : `${prefix}-${owner.name}`);
}

/** The full host name of the state store. */
export function odgmHost({ classPlan, names }: OdgmPlan): string {
  return serviceHost(classPlan.input, names.service);
}
