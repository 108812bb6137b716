/**
 * The REST contract of the Package Manager. Runs in a browser as well.
 *
 * Reading order: paths (every route, as data), resources (one file per JSON type: what may be sent, what is sent, and
 * the way to the domain's own types), fields and violations (how a document is read and everything wrong with it said
 * at once), fault-body and http-status (how a refusal is written), fault-from-answer and client (the other side),
 * openapi (the document made of it all).
 */
export { allRoutes, ROUTES, type OperationId } from "./paths.ts";
export { fillPath, pathParameters, ROLES, type Answer, type Role, type Route } from "./route.ts";
export { HEADERS, PROBLEM_TYPE } from "./headers.ts";
export { PAGE_LIMITS } from "./query.ts";
export { readBy } from "./violations.ts";
export { present } from "./fields.ts";
export { heldBy } from "./members.ts";
export { pascal } from "./spelling.ts";
export { documentFromYaml } from "./yaml-document.ts";
export { faultToProblem, problemView, type Problem, type ProblemOptions, type ProblemPart } from "./fault-body.ts";
export { faultFromAnswer, faultFromProblem, type RefusedAnswer } from "./fault-from-answer.ts";
export {
  faultStatus,
  HTTP_REFUSALS,
  HTTP_STATUS_OF_CODE,
  HTTP_STATUS_OF_KIND,
  kindOfStatus,
  type HttpRefusal,
} from "./http-status.ts";
export { retryAfterMsFrom, retryAfterOf } from "./retry-after.ts";
export { openApiDocument, type OpenApiDocument } from "./openapi.ts";
export { createRestClient, type Reply, type RestClient } from "./client.ts";
export type { CallOptions, FetchAnswer, FetchInit, FetchPort, RestClientOptions } from "./exchange.ts";

export { packageFromWire, packageInput, packageToWire, packageView } from "./resources/package.ts";
export { classToWire, classView } from "./resources/class.ts";
export { functionToWire, functionView } from "./resources/function.ts";
export { provisionConfigToWire } from "./resources/provision-config.ts";
export { nfrRequirementsToWire } from "./resources/nfr-requirements.ts";
export {
  classDeploymentFromWire,
  classDeploymentToWire,
  classDeploymentView,
  deploymentRequestInput,
  observedDeploymentInput,
} from "./resources/class-deployment.ts";
export { planRefusalView, type PlanRefusalWire, type RemedyWire } from "./resources/plan-refusal.ts";
export { planRequestInput, planView } from "./resources/plan.ts";
export {
  classRuntimeInput,
  classRuntimeToWire,
  classRuntimeView,
  functionStatusToWire,
} from "./resources/class-runtime.ts";
export {
  clusterHealthInput,
  clusterHealthToWire,
  clusterHealthView,
  clusterRegistrationInput,
  clusterRegistrationView,
  clusterView,
} from "./resources/cluster.ts";
export { deploymentStatusView, unitStatusView } from "./resources/deployment-status.ts";
export { explanationView, type FindingWire } from "./resources/explanation.ts";
export {
  deploymentRevisionView,
  diffView,
  packageRevisionView,
  revisionView,
  rollbackInput,
} from "./resources/revision.ts";
export { EVENT_TOPICS, streamEventView } from "./resources/stream-event.ts";
export { readinessView, serviceHealthView } from "./resources/service-health.ts";
export { topologyFromWire, topologyToWire, topologyView } from "./resources/topology.ts";
export {
  acceptedView,
  acknowledgementView,
  clusterMappingsView,
  deletionView,
  packageAcknowledgementView,
} from "./resources/acknowledgement.ts";
