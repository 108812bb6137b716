export * from "./compliance.ts";
export * from "./enforcement.ts";
export * from "./recommendation.ts";
export * from "./samples.ts";
export * from "./utilization.ts";
