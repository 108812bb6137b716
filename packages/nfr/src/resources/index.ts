export type { ResourceCheckpoint, ResourceTargets } from "./checkpoint.ts";
export { ResourceModel, type MemorySettings, type RecommendOptions } from "./resource-model.ts";
