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
export const INPUT_COMPONENTS: Readonly<Record<string, z.ZodType>> = {
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
};

/** The names under which the OpenAPI document has what PM answers; those of the contract where it has one. */
export const VIEW_COMPONENTS: Readonly<Record<string, z.ZodType>> = {
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
  StreamEvent: event.streamEventView,
  TopologySnapshot: topology.topologyView,
  TopologyNode: topology.topologyNodeView,
  TopologyEdge: topology.topologyEdgeView,
  Acknowledgement: acknowledgement.acknowledgementView,
  Accepted: acknowledgement.acceptedView,
  Deletion: acknowledgement.deletionView,
  ClusterMappings: acknowledgement.clusterMappingsView,
  ServiceHealth: health.serviceHealthView,
  Readiness: health.readinessView,
  Problem: problemView,
  ProblemPart: problemPartView,
  Violation: violationView,
};
