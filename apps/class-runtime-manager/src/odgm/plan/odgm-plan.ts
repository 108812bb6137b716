import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { ClassPlan } from "../../rendering/plan/class-plan.ts";
import { serviceHost } from "../../rendering/plan/class-plan.ts";
import { odgmNames } from "../../rendering/plan/names.ts";
import { collectionRequests, type CollectionRequest } from "./collection-requests.ts";
import { collectionsOf, statedReplicas, type Collection } from "./collections.ts";
import { eventsOf, type Events } from "./events.ts";
import { gridNodes, type GridNodes } from "./nodes.ts";
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
  readonly nodes: GridNodes;
  readonly collections: readonly Collection[];
  readonly requests: readonly CollectionRequest[];
  readonly events: Events;
  /** Whether its nodes have volumes. */
  readonly persistent: boolean;
  /** Host and port that functions get. */
  readonly service: string;
  readonly warnings: readonly Violation[];
}

/** Plans the state store of a class: nodes, then collections, then routes. */
export function planOdgm(classPlan: ClassPlan): OdgmPlan {
  const { input, policy } = classPlan;
  const config = input.spec.odgm_config;
  const names = odgmNames(input.owner.name);
  const nodes = gridNodes(input, statedReplicas(input) ?? policy.odgmReplicas);
  const { collections, warnings } = collectionsOf(input, nodes.members.length);
  const json = collectionRequests({
    collections,
    assignments: config?.collection_assignments ?? {},
    options: config?.options ?? {},
    invocations: invocationsOf(classPlan),
  });
  return {
    classPlan,
    names,
    clusterId: clusterId(classPlan),
    nodes,
    collections,
    requests: json.requests,
    events: eventsOf(input),
    persistent: collections.some((collection) => collection.persistent),
    service: `${names.service}:${ODGM_PORT}`,
    warnings: [...warnings, ...json.warnings, ...collectionSizeWarnings(json.requests)],
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
