import type { z } from "zod";
import { problemPartView, problemView, violationView } from "./fault-body.ts";
import * as acknowledgement from "./resources/acknowledgement.ts";
import * as deployment from "./resources/class-deployment.ts";
import * as runtime from "./resources/class-runtime.ts";
import * as cls from "./resources/class.ts";
import * as cluster from "./resources/cluster.ts";
import * as status from "./resources/deployment-status.ts";
import * as explanation from "./resources/explanation.ts";
import * as functionDeployment from "./resources/function-deployment.ts";
import * as fn from "./resources/function.ts";
import * as nfr from "./resources/nfr-requirements.ts";
import * as odgm from "./resources/odgm-spec.ts";
import * as pkg from "./resources/package.ts";
import * as plan from "./resources/plan.ts";
import * as provision from "./resources/provision-config.ts";
import * as revision from "./resources/revision.ts";
import * as health from "./resources/service-health.ts";
import * as event from "./resources/stream-event.ts";
import * as telemetry from "./resources/telemetry-config.ts";
import * as topology from "./resources/topology.ts";

/** The names under which the OpenAPI document has what may be sent to PM. */
export const INPUT_COMPONENTS = {
  OPackageInput: pkg.packageInput,
  PackageMetadataInput: pkg.packageMetadataInput,
  OClassInput: cls.classInput,
  FunctionBindingInput: cls.functionBindingInput,
  StateSpecificationInput: cls.stateSpecificationInput,
  KeySpecificationInput: cls.keySpecificationInput,
  OFunctionInput: fn.functionInput,
  ProvisionConfigInput: provision.provisionConfigInput,
  ResourceRequirementsInput: provision.resourceRequirementsInput,
  NfrRequirementsInput: nfr.nfrRequirementsInput,
  QosRequirementInput: nfr.qosRequirementInput,
  EnforcementInput: nfr.enforcementInput,
  OClassDeploymentInput: deployment.classDeploymentInput,
  DeploymentRequest: deployment.deploymentRequestInput,
  RolloutInput: deployment.rolloutInput,
  FunctionDeploymentSpecInput: functionDeployment.functionDeploymentInput,
  OdgmDataSpecInput: odgm.odgmSpecInput,
  TelemetryConfigInput: telemetry.telemetryConfigInput,
  PlanRequest: plan.planRequestInput,
  RollbackRequest: revision.rollbackInput,
  ClusterRegistrationRequest: cluster.clusterRegistrationInput,
} satisfies Readonly<Record<string, z.ZodType>>;

/** The names under which the OpenAPI document has what PM answers; those of the contract where it has one. */
export const VIEW_COMPONENTS = {
  OPackage: pkg.packageView,
  PackageMetadata: pkg.packageMetadataView,
  OClass: cls.classView,
  FunctionBinding: cls.functionBindingView,
  StateSpecification: cls.stateSpecificationView,
  KeySpecification: cls.keySpecificationView,
  OFunction: fn.functionView,
  ProvisionConfig: provision.provisionConfigView,
  NfrRequirements: nfr.nfrRequirementsView,
  QosRequirement: nfr.qosRequirementView,
  Enforcement: nfr.enforcementView,
  OClassDeployment: deployment.classDeploymentView,
  DeploymentStatusSummary: deployment.deploymentSummaryView,
  Rollout: deployment.rolloutView,
  FunctionDeploymentSpec: functionDeployment.functionDeploymentView,
  OdgmDataSpec: odgm.odgmSpecView,
  TelemetryConfig: telemetry.telemetryConfigView,
  ClusterHealth: cluster.clusterHealthView,
  Cluster: cluster.clusterView,
  ClusterRegistration: cluster.clusterRegistrationView,
  ApiClassRuntime: runtime.classRuntimeView,
  ApiClassRuntimeStatus: runtime.classRuntimeStatusView,
  ApiFunctionStatus: runtime.functionStatusView,
  NfrCompliance: runtime.nfrComplianceView,
  ResourceReference: runtime.resourceReferenceView,
  UnitStatus: status.unitStatusView,
  DeploymentStatus: status.deploymentStatusView,
  Explanation: explanation.explanationView,
  Finding: explanation.findingView,
  Plan: plan.planView,
  Revision: revision.revisionView,
  PackageRevision: revision.packageRevisionView,
  DeploymentRevision: revision.deploymentRevisionView,
  Diff: revision.diffView,
  Change: revision.changeView,
  StreamEvent: event.streamEventView,
  TopologySnapshot: topology.topologyView,
  TopologyNode: topology.topologyNodeView,
  TopologyEdge: topology.topologyEdgeView,
  Acknowledgement: acknowledgement.acknowledgementView,
  PackageAcknowledgement: acknowledgement.packageAcknowledgementView,
  Accepted: acknowledgement.acceptedView,
  Deletion: acknowledgement.deletionView,
  ClusterMappings: acknowledgement.clusterMappingsView,
  ServiceHealth: health.serviceHealthView,
  Readiness: health.readinessView,
  Problem: problemView,
  ProblemPart: problemPartView,
  Violation: violationView,
} satisfies Readonly<Record<string, z.ZodType>>;

type ComponentName = keyof typeof INPUT_COMPONENTS | keyof typeof VIEW_COMPONENTS;

/** What each of these documents is. */
export const COMPONENT_MEANINGS: Readonly<Record<ComponentName, string>> = {
  OPackageInput: "A package to register: classes, functions, and what they need.",
  PackageMetadataInput: "Who wrote a package, and what for.",
  OClassInput: "A class: functions, and the state they work on.",
  FunctionBindingInput: "A method of a class: a function under a name.",
  StateSpecificationInput: "The state that objects of a class have, and how it is kept.",
  KeySpecificationInput: "A key of a class's state.",
  OFunctionInput: "A function: an image, and what it needs to run.",
  ProvisionConfigInput: "How a function is run.",
  ResourceRequirementsInput: "CPU and memory as peers of August 2025 wrote them.",
  NfrRequirementsInput: "What must hold of a class or a function.",
  QosRequirementInput: "The older form of requirements.",
  EnforcementInput: "What is done about requirements that are not met.",
  OClassDeploymentInput: "A wish: this class shall run, there or wherever it fits, and so much must hold.",
  DeploymentRequest: "A wish, and the plan that it must lead to.",
  RolloutInput: "In which order clusters are changed, and what must hold before the next one is.",
  FunctionDeploymentSpecInput: "What differs for one function of a deployment.",
  OdgmDataSpecInput: "What is wanted of the object data grid, which keeps the state.",
  TelemetryConfigInput: "What is observed of the workloads.",
  PlanRequest: "A wish to plan, and a world to assume.",
  RollbackRequest: "Which revision to go back to, and why.",
  ClusterRegistrationRequest: "A cluster to add while the package manager runs, as in `CRM_CLUSTERS_JSON`.",
  OPackage: "A registered package.",
  PackageMetadata: "Who wrote a package, what for, and when.",
  OClass: "A class: functions, and the state they work on.",
  FunctionBinding: "A method of a class: a function under a name.",
  StateSpecification: "The state that objects of a class have, and how it is kept.",
  KeySpecification: "A key of a class's state.",
  OFunction: "A function: an image, and what it needs to run.",
  ProvisionConfig: "How a function is run.",
  NfrRequirements: "What must hold of a class or a function.",
  QosRequirement: "The older form of requirements.",
  Enforcement: "What is done about requirements that are not met.",
  OClassDeployment: "A wish, and how far it is fulfilled.",
  DeploymentStatusSummary: "What came of a plan.",
  Rollout: "In which order clusters are changed, and what must hold before the next one is.",
  FunctionDeploymentSpec: "What differs for one function of a deployment.",
  OdgmDataSpec: "What is wanted of the object data grid, which keeps the state.",
  TelemetryConfig: "What is observed of the workloads.",
  ClusterHealth: "A reading of a cluster's health.",
  Cluster: "A cluster in the list of clusters.",
  ClusterRegistration: "How the package manager knows a cluster; its secrets and files stay inside.",
  ApiClassRuntime: "A class in one cluster.",
  ApiClassRuntimeStatus: "How a class in one cluster is.",
  ApiFunctionStatus: "How a function in one cluster is.",
  NfrCompliance: "Whether what was asked for holds, as far as it is measured.",
  ResourceReference: "An object in a cluster.",
  UnitStatus: "How a unit is, by its id.",
  DeploymentStatus: "How a deployment is over all its clusters.",
  Explanation: "Why a deployment is not ready, cluster by cluster, with what to do about it.",
  Finding: "One thing that was looked at, and below it what explains it.",
  Plan: "What would be done, with every id fixed and every choice explained.",
  Revision: "One immutable revision, without its content.",
  PackageRevision: "One immutable revision of a package.",
  DeploymentRevision: "One entry of a deployment's history: the wish, the plan, and what came of it.",
  Diff: "What differs between two revisions.",
  Change: "One difference.",
  StreamEvent: "The data of one server-sent event.",
  TopologySnapshot: "What runs where.",
  TopologyNode: "One thing of the topology, such as a package, a class or a cluster.",
  TopologyEdge: "That one thing of the topology belongs to another.",
  Acknowledgement: "What became of a write.",
  PackageAcknowledgement: "What became of the write of a package, or would.",
  Accepted: "A write that is still being carried out.",
  Deletion: "What became of a deletion.",
  ClusterMappings: "Which unit of a deployment runs where.",
  ServiceHealth: "How the package manager itself is.",
  Readiness: "Whether the package manager takes requests.",
  Problem: "A refusal (RFC 9457), with what a program needs to decide.",
  ProblemPart: "The refusal of one part of a partial failure.",
  Violation: "Something that is wrong with what was sent.",
};
