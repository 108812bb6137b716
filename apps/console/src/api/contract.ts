import type { OperationId, Reply } from "@oaas/contracts/rest";

/** The value of an operation's response, by the route table of the package manager. */
export type ValueOf<Id extends OperationId> = Reply<Id>["value"];

/** Fields that earlier servers omit may be undefined; lists are plain arrays. */
export type Deployment = ValueOf<"getDeployment">;
export type DeploymentStatus = ValueOf<"getDeploymentStatus">;
export type ClusterStatus = DeploymentStatus["clusters"][number];
export type Explanation = ValueOf<"explainDeployment">;
export type Finding = NonNullable<Explanation["clusters"][number]["finding"]>;
export type Plan = ValueOf<"createPlan">;
export type Package = ValueOf<"getPackage">;
export type PackageSummary = ValueOf<"listPackageSummaries">[number];
export type DependencyGraph = ValueOf<"getPackageDependencies">;
export type ClassRuntimeSummary = ValueOf<"listClassRuntimeSummaries">[number];
export type ClassRuntime = ValueOf<"getClassRuntime">;
export type ClusterRegistration = ValueOf<"getCluster">;
export type Topology = ValueOf<"getTopology">;
export type AuditEntry = ValueOf<"listAudit">[number];
export type StreamEvent = ValueOf<"streamEvents">;
export type LogLine = ValueOf<"streamDeploymentLogs">;
export type Session = ValueOf<"getSession">;
export type Overview = ValueOf<"getOverview">;
export type Operation = ValueOf<"listOperations">[number];
export type StateCollection = ValueOf<"listStateCollections">[number];
export type StateObjectSummary = ValueOf<"listStateObjects">[number];
export type StateObject = ValueOf<"getStateObject">;
export type Lab = ValueOf<"getLab">;
