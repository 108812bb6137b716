import { FIELD_VALIDATION_PARAMETER, FIELD_VALIDATIONS } from "../field-validation.ts";
import { CSRF_HEADER, HEADERS, PROBLEM_TYPE } from "../routes/headers.ts";

/** Components shared by the operations of the OpenAPI document. */

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: false,
  description,
  schema: { type: "string" },
});

/** Request headers. */
export const PARAMETERS = {
  CorrelationId: header(
    HEADERS.correlationId,
    "Correlation id of the request, included in every log line and downstream call; generated when absent.",
  ),
  IfMatch: header(
    HEADERS.ifMatch,
    "ETags of which the resource must match one, or `*` to require that it exists; otherwise the request fails with 412.",
  ),
  IfNoneMatch: header(
    HEADERS.ifNoneMatch,
    "ETags of which the resource must match none, or `*` to require that it does not exist; otherwise a read returns 304 and a write 412.",
  ),
  IdempotencyKey: header(
    HEADERS.idempotencyKey,
    "Idempotency key: requests with the same key and body are executed once.",
  ),
  FieldValidation: {
    name: FIELD_VALIDATION_PARAMETER,
    in: "query",
    required: false,
    description:
      "Treatment of unknown fields and query parameters: `strict` rejects the request, `warn` accepts it and returns `Warning` headers, `ignore` drops them. Default: `strict`.",
    schema: { type: "string", enum: FIELD_VALIDATIONS },
  },
  LastEventId: header(HEADERS.lastEventId, "Resume the stream after this event id."),
};

/** Descriptions of path parameters, by their name where it says enough, else by the path segment before them. */
export const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  packages: "Package name.",
  deployments: "Deployment key.",
  functions: "Function key.",
  revisions: "Revision number.",
  "class-runtimes": "Deployment unit id.",
  "deployment-records": "Deployment unit id.",
  "deployment-status": "Deployment unit id.",
  clusters: "Cluster name.",
  envs: "Cluster name.",
  "freeze-windows": "Name of the freeze window.",
  objects: "Kubernetes kind, such as `Deployment`.",
  "{kind}": "Object name.",
  collection: "Collection name.",
  partition: "Partition number, from 0.",
  "{partition}": "Object id.",
};

/** Descriptions of the tags, in document order. */
export const TAGS: Readonly<Record<string, string>> = {
  packages: "Packages and their revisions.",
  deployments: "Deployments, their status and their revisions.",
  functions: "Output and trial invocations of functions.",
  objects: "Objects in the state stores of a deployment.",
  apply: "Packages and deployments in one transaction.",
  events: "Streams of changes.",
  plans: "Plans: what a deployment would do, and why.",
  "class-runtimes": "Class runtimes in the clusters.",
  inspection: "What a class runtime consists of and how it behaves, read from its cluster.",
  clusters: "Registered clusters and their health.",
  "freeze-windows": "Calendar of times in which clusters, or the whole platform, are not changed.",
  catalogue: "Classes and functions of all packages, and the topology.",
  audit: "The audit trail: attempted changes and their outcome.",
  overview: "What is going on, over everything.",
  lab: "Fault injection: in the local stack only.",
  session: "Sessions of browsers: sign in, sign out, and who the caller is.",
  service: "Health, metrics and documentation of the package manager.",
};

/** Response headers. */
export const RESPONSE_HEADERS = {
  CorrelationId: { description: "Correlation id of this request in all logs.", schema: { type: "string" } },
  TotalCount: { description: "Total number of items across all pages.", schema: { type: "integer", minimum: 0 } },
  NextPageToken: { description: "Token of the next page; absent on the last page.", schema: { type: "string" } },
  ETag: { description: "Version of the resource that was read or written.", schema: { type: "string" } },
  RetryAfter: { description: "Seconds to wait before retrying.", schema: { type: "integer", minimum: 0 } },
  Location: { description: "URL of the created resource, or of the status to poll.", schema: { type: "string" } },
  ContentLocation: { description: "URL of the deployment.", schema: { type: "string" } },
  IdempotencyReplayed: {
    description: "`true` when the response is replayed from an earlier request with the same idempotency key.",
    schema: { type: "string", const: "true" },
  },
  MissingClusters: {
    description: "Unreachable clusters, separated by commas; absent when the list is complete.",
    schema: { type: "string" },
  },
  Warning: {
    description: "With `field_validation=warn`: the unknown fields, each with code 299.",
    schema: { type: "string" },
  },
  WwwAuthenticate: { description: "With 401: the required authentication scheme.", schema: { type: "string" } },
  SetCookie: {
    description: "The cookie of the session, or its deletion: `HttpOnly`, `SameSite=Strict`, and `Secure` with TLS.",
    schema: { type: "string" },
  },
};

const HEADER_NAMES = {
  CorrelationId: HEADERS.correlationId,
  TotalCount: HEADERS.totalCount,
  NextPageToken: HEADERS.nextPageToken,
  ETag: HEADERS.etag,
  RetryAfter: HEADERS.retryAfter,
  Location: HEADERS.location,
  ContentLocation: HEADERS.contentLocation,
  IdempotencyReplayed: HEADERS.idempotencyReplayed,
  MissingClusters: HEADERS.missingClusters,
  Warning: HEADERS.warning,
  WwwAuthenticate: "www-authenticate",
  SetCookie: "set-cookie",
} as const satisfies Record<keyof typeof RESPONSE_HEADERS, string>;

/** The HTTP name of a response header. */
export function headerName(name: keyof typeof RESPONSE_HEADERS): string {
  return HEADER_NAMES[name];
}

/** Responses shared by operations. */
export const RESPONSES = {
  NotModified: {
    description: "Not modified: the resource matches an ETag of `if-none-match`.",
    headers: {
      [HEADERS.correlationId]: { $ref: "#/components/headers/CorrelationId" },
      [HEADERS.etag]: { $ref: "#/components/headers/ETag" },
    },
  },
  Problem: {
    description: "Error. `kind` and `code` identify the error, `violations` lists all invalid fields.",
    headers: {
      [HEADERS.correlationId]: { $ref: "#/components/headers/CorrelationId" },
      [HEADERS.retryAfter]: { $ref: "#/components/headers/RetryAfter" },
      [headerName("WwwAuthenticate")]: { $ref: "#/components/headers/WwwAuthenticate" },
    },
    content: { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } },
  },
};

/** Authentication schemes. */
export const SECURITY = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "A token configured in the package manager, or a JWT when an issuer is configured.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "oaas-session",
    description: `Set by signing in; \`__Host-oaas-session\` with TLS. Only for pages of this origin: writes also need the header \`${CSRF_HEADER}\` with \`csrf_token\` of \`GET /api/v1/session\`.`,
  },
};
