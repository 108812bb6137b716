/**
 * The REST contract of the package manager. Also runs in a browser.
 *
 * Reading order: routes/ (every route, as data), resources/ (one declaration per JSON document), reading/ (how
 * declarations become readers and writers, and how validation errors are reported), faults/ (problem documents),
 * client/ (typed and schema-free clients), openapi/ (the generated document).
 */
export { allRoutes, ROUTES, type OperationId, type QueryParameter } from "./routes/table.ts";
export {
  EVENT_STREAM,
  fillPath,
  pathParameters,
  ROLES,
  type RouteResponse,
  type Role,
  type Route,
} from "./routes/route.ts";
export { CSRF_HEADER, HEADERS, PROBLEM_TYPE } from "./routes/headers.ts";
export { PAGE_LIMITS } from "./routes/query.ts";
export { readBy } from "./reading/violations.ts";
export { omitUndefined } from "./reading/fields.ts";
export {
  FIELD_VALIDATION_PARAMETER,
  FIELD_VALIDATIONS,
  TOLERATED_FIELDS,
  unknownFields,
  unknownParameters,
  type FieldValidation,
} from "./field-validation.ts";
export { pascalCase } from "./reading/spelling.ts";
export { documentFromYaml } from "./reading/yaml-document.ts";
export { faultToProblem, problemView, type Problem, type ProblemOptions, type ProblemPart } from "./faults/problem.ts";
export { faultFromResponse, faultFromProblem, type ErrorResponse } from "./faults/fault-from-response.ts";
export {
  faultStatus,
  HTTP_ERRORS,
  HTTP_STATUS_OF_CODE,
  HTTP_STATUS_OF_KIND,
  kindOfStatus,
  HttpError,
  type HttpErrorName,
  crossSiteError,
} from "./faults/http-status.ts";
export { retryAfterMsFrom, retryAfterHeader } from "./faults/http-status.ts";
export { openApiDocument, type OpenApiDocument } from "./openapi/document.ts";
export { referencePage } from "./openapi/reference-page.ts";
export { createRestClient, type Reply, type RestClient } from "./client/client.ts";
export type { CallOptions, FetchResponse, FetchInit, FetchPort, RestClientOptions } from "./client/send-request.ts";

export { packageFromWire, packageInput, packageToWire, packageView } from "./resources/package/package.ts";
export { dependencyGraphView, packageSummaryView } from "./resources/package/package-lists.ts";
export { classToWire, classView } from "./resources/package/class.ts";
export { functionToWire, functionView } from "./resources/package/function.ts";
export { provisionConfigToWire } from "./resources/package/provision-config.ts";
export { nfrRequirementsToWire } from "./resources/deployment/nfr-requirements.ts";
export {
  classDeploymentFromWire,
  classDeploymentToWire,
  classDeploymentView,
  deploymentRequestInput,
  observedDeploymentInput,
} from "./resources/deployment/class-deployment.ts";
export {
  planRefusalView,
  type OutdatedPlanWire,
  type PlanRefusalWire,
  type RemedyWire,
} from "./resources/deployment/plan-refusal.ts";
export { planRequestInput, planView } from "./resources/deployment/plan.ts";
export { planPriceToWire } from "./resources/deployment/plan-price.ts";
export { type PlanObjectsWire } from "./resources/deployment/plan-objects.ts";
export { clusterLossToWire } from "./resources/deployment/cluster-loss.ts";
export { statedRequirementToWire } from "./resources/deployment/requirement-status.ts";
export { driftCorrectionToWire } from "./resources/cluster/drift-correction.ts";
export { plannedAvailabilityToWire } from "./resources/deployment/planned-availability.ts";
export {
  classRuntimeInput,
  classRuntimeSummaryView,
  classRuntimeToWire,
  classRuntimeView,
} from "./resources/cluster/class-runtime.ts";
export { restartTurnToWire } from "./resources/cluster/state-store.ts";
export {
  clusterHealthInput,
  clusterHealthToWire,
  clusterHealthView,
  clusterRegistrationInput,
  clusterRegistrationView,
  clusterView,
  drainProgress,
} from "./resources/cluster/cluster.ts";
export {
  availabilityEstimateToWire,
  availabilityPrior,
  clusterAvailabilityToWire,
  clusterAvailabilityView,
  clusterCost,
} from "./resources/cluster/availability.ts";
export { runtimeConditions, runtimeObject, runtimePods, runtimeSignals } from "./resources/cluster/inspection.ts";
export { componentUsage } from "./resources/cluster/usage.ts";
export {
  deploymentStatusToWire,
  deploymentStatusView,
  operationToWire,
  unitStatusToWire,
} from "./resources/deployment/deployment-status.ts";
export { enforcementReportToWire } from "./resources/cluster/nfr-status.ts";
export { explanationToWire, type Explanation, type FindingWire } from "./resources/deployment/explanation.ts";
export {
  deploymentRevisionToWire,
  deploymentRevisionView,
  diffView,
  packageRevisionToWire,
  packageRevisionView,
  revisionToWire,
  revisionView,
  rollbackInput,
} from "./resources/service/revision.ts";
export { activeFreeze, freezeWindow } from "./resources/cluster/freeze-window.ts";
export { deploymentPause } from "./resources/deployment/deployment-pause.ts";
export {
  ENTRY_TYPES,
  OBJECT_BYTES,
  stateCollectionView,
  stateEntryInput,
  stateEntryView,
  stateObjectInput,
  stateObjectSummaryView,
  stateObjectView,
  stateObjectWriteView,
} from "./resources/deployment/state-objects.ts";
export { invocationInput, invocationView, logLineView } from "./resources/deployment/function-access.ts";
export { EVENT_TOPICS, streamEventView } from "./resources/service/stream-event.ts";
export { AUDIT_VERSION, auditEntryView, type AuditActor, type AuditEntry } from "./resources/service/audit-entry.ts";
export { CHAIN_START, sealAuditEntry, verifyAuditLines, type BrokenLine, type Verification } from "./audit-chain.ts";
export { readinessView, serviceHealthView } from "./resources/service/service-health.ts";
export { listedOperationView, overviewView } from "./resources/service/overview.ts";
export { sessionView, SIGN_IN_METHODS } from "./resources/service/session.ts";
export { topologyToWire, topologyView } from "./resources/cluster/topology.ts";
export {
  acceptedView,
  acknowledgementView,
  clusterMappingsView,
  deletionView,
  packageAcknowledgementView,
} from "./resources/service/acknowledgement.ts";
export { appliedSetView, documentInput, documentSetInput } from "./resources/service/document-set.ts";
