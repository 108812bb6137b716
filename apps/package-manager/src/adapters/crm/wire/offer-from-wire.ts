import type { CrmClusterHealth, CrmEnvHealth, EnvCapacity, ExtendedResource } from "@oaas/contracts/grpc";
import type { ClusterOffer, NodeShape } from "@oaas/models";

/** Bounds for peers that send more than ours do. */
const MAX_NAMES = 1_000;
const MAX_LABELS = 64;
const MAX_SHAPES = 64;

/** What a cluster offers; undefined for a peer that does not report it, which ours always do with their API features. */
export function offerFromWire(wire: CrmEnvHealth | CrmClusterHealth): ClusterOffer | undefined {
  const { apiFeatures, capabilities, templates, environments, labels, capacity } = wire;
  if (apiFeatures.length === 0) return undefined;
  const shapes = shapesFromWire(capacity);
  return {
    capabilities: capabilities.slice(0, MAX_NAMES),
    templates: templates.slice(0, MAX_NAMES),
    environments: environments.slice(0, MAX_NAMES),
    labels: Object.fromEntries(Object.entries(labels).slice(0, MAX_LABELS)),
    ...(shapes === undefined ? {} : { shapes }),
  };
}

/** Undefined if unknown: a peer without shapes, or without permission to read nodes. */
function shapesFromWire(capacity: EnvCapacity | undefined): readonly NodeShape[] | undefined {
  if (capacity === undefined || capacity.shapes.length === 0) return undefined;
  return capacity.shapes.slice(0, MAX_SHAPES).map((shape) => ({
    nodes: shape.nodes,
    freeCpuMillicores: Number(shape.freeCpuMillicores),
    freeMemoryBytes: Number(shape.freeMemoryBytes),
    freePods: shape.freePods,
    largestFreeCpuMillicores: Number(shape.largestFreeCpuMillicores),
    largestFreeMemoryBytes: Number(shape.largestFreeMemoryBytes),
    ...(shape.extendedResourcesKnown && shape.extendedResources.length <= MAX_NAMES
      ? { extended: extendedFromWire(shape.extendedResources) }
      : {}),
  }));
}

function extendedFromWire(resources: readonly ExtendedResource[]): NonNullable<NodeShape["extended"]> {
  return Object.fromEntries(
    resources.map(({ name, free, largestFree }) => [name, { free: Number(free), largestFree: Number(largestFree) }]),
  );
}
