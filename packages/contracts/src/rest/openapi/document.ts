import type { FaultKind } from "@oaas/foundation";
import { BODY_EXAMPLES } from "./body-examples.ts";
import { COMPONENT_DESCRIPTIONS, INPUT_COMPONENTS, VIEW_COMPONENTS } from "./components.ts";
import { HTTP_ERRORS, HTTP_STATUS_OF_KIND } from "../faults/http-status.ts";
import { jsonSchemasOf, type JsonSchema } from "./json-schemas.ts";
import {
  headerName,
  PARAMETERS,
  PATH_PARAMETERS,
  RESPONSE_HEADERS,
  RESPONSES,
  SECURITY,
  TAGS,
} from "./shared-parts.ts";
import { TOLERATED_FIELDS } from "../field-validation.ts";
import { allRoutes } from "../routes/table.ts";
import { pathParameters, type RouteResponse, type ResponseHeader, type Route } from "../routes/route.ts";

/** Marks a property that requests may contain and that has no effect. */
const IGNORED = "x-ignored";
const BODY_TYPES = ["application/json", "application/yaml"];

type OfferedRoute = ReturnType<typeof allRoutes>[number];

/** An OpenAPI 3.1 document as JSON. */
export interface OpenApiDocument {
  readonly openapi: "3.1.1";
  readonly info: { readonly title: string; readonly version: string; readonly [member: string]: unknown };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly [member: string]: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly [member: string]: unknown;
}

/** Generates the OpenAPI document of the package manager from the route table and the schemas. Deterministic. */
export function openApiDocument(version: string): OpenApiDocument {
  const routes = allRoutes().filter((route) => route.offered !== false);
  const schemas = schemasOf(routes);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = operationOf(route, schemas);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "OaaS Package Manager",
      version,
      summary: "Package registry, deployment of classes across clusters, and deployment status.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      schemas: schemas.components,
      parameters: PARAMETERS,
      headers: RESPONSE_HEADERS,
      responses: RESPONSES,
      securitySchemes: SECURITY,
    },
  };
}

interface Schemas {
  readonly components: Readonly<Record<string, JsonSchema>>;
  readonly of: (schema: NonNullable<Route["body"]>) => JsonSchema;
}

function schemasOf(routes: readonly OfferedRoute[]): Schemas {
  const requestSchemas = routes.flatMap((route) => [route.query, route.body]).filter((schema) => schema !== undefined);
  const responseSchemas = routes
    .flatMap((route) => routeResponses(route).map((response) => response.schema))
    .filter((schema) => schema !== undefined);
  const input = jsonSchemasOf("input", INPUT_COMPONENTS, requestSchemas);
  const output = jsonSchemasOf("output", VIEW_COMPONENTS, responseSchemas);
  const inPlace = new Map([
    ...requestSchemas.map((schema, at) => [schema, input.inPlace[at] ?? {}] as const),
    ...responseSchemas.map((schema, at) => [schema, output.inPlace[at] ?? {}] as const),
  ]);
  const named = Object.entries({ ...output.components, ...input.components }).map(([name, schema]) => [
    name,
    {
      description: COMPONENT_DESCRIPTIONS[name as keyof typeof COMPONENT_DESCRIPTIONS],
      ...withTolerated(name, schema),
    },
  ]);
  const components = Object.fromEntries(named) as Record<string, JsonSchema>;
  return { components, of: (schema) => inPlace.get(schema) ?? {} };
}

/** Adds the fields that are accepted and ignored: all others are rejected. */
function withTolerated(component: string, schema: JsonSchema): JsonSchema {
  const tolerated = Object.entries(TOLERATED_FIELDS).find(([name]) => name === component)?.[1];
  if (tolerated === undefined) return schema;
  const ignored = Object.entries(tolerated).map(([name, why]) => [
    name,
    { description: `Ignored. ${why}`, [IGNORED]: true },
  ]);
  const properties = { ...(schema["properties"] as object), ...Object.fromEntries(ignored) };
  return { ...schema, properties };
}

function routeResponses(route: Route): readonly RouteResponse[] {
  return [route.response, ...(route.otherResponses ?? [])];
}

function operationOf(route: OfferedRoute, schemas: Schemas): Operation {
  const { body } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: descriptionOf(route),
    tags: [route.tag],
    ...(route.role === "public" ? { security: [] } : { security: [{ bearer: [] }, { session: [] }] }),
    "x-role": route.role,
    "x-since": route.since,
    ...(route.aliasOf === undefined ? {} : { "x-alias-of": route.aliasOf }),
    parameters: parametersOf(route, schemas),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            description:
              "JSON or YAML; null means absent. Unknown fields are rejected (`field_validation`), except those described as ignored.",
            required: true,
            content: contentOf(BODY_TYPES, schemas.of(body), BODY_EXAMPLES[route.operationId]),
          },
        }),
    responses: responsesOf(route, schemas),
  };
}

/** The description of an operation, derived from the route. */
function descriptionOf({ summary, role, aliasOf, method, versioned, idempotent, paged }: OfferedRoute): string {
  return [
    `${summary}.`,
    ...(aliasOf === undefined ? [] : [`Alias of \`${aliasOf}\`.`]),
    role === "public" ? "Requires no authentication." : `Requires the role ${role}.`,
    ...(paged ? ["Paginated: use `limit` with `offset` or `page_token`."] : []),
    ...(versioned && method !== "GET"
      ? ["With `if-match` the request fails when the resource has changed; with `if-none-match: *`, when it exists."]
      : []),
    ...(versioned && method === "GET" ? ["With `if-none-match` the body is returned only when it has changed."] : []),
    ...(idempotent ? ["With an `idempotency-key` repeated requests are executed once."] : []),
  ].join(" ");
}

function parametersOf(route: Route, schemas: Schemas): readonly JsonSchema[] {
  const inPath = pathParameters(route.path).map((name) => ({
    name,
    in: "path",
    required: true,
    description: PATH_PARAMETERS[name] ?? PATH_PARAMETERS[segmentBefore(name, route.path)],
    schema: name === "revision" ? { type: "integer", minimum: 1 } : { type: "string" },
  }));
  const { properties = {} } = (route.query === undefined ? {} : schemas.of(route.query)) as {
    properties?: Record<string, JsonSchema>;
  };
  const inQuery = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    description,
    schema,
  }));
  const shared = [
    "CorrelationId",
    ...(route.versioned ? ["IfMatch", "IfNoneMatch"] : []),
    ...(route.idempotent ? ["IdempotencyKey"] : []),
    ...(route.method === "GET" ? [] : ["FieldValidation"]),
    ...(route.response.mediaType === "text/event-stream" ? ["LastEventId"] : []),
  ];
  return [...inPath, ...inQuery, ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function segmentBefore(parameter: string, path: string): string {
  const words = path.split("/");
  return words[words.indexOf(`{${parameter}}`) - 1] ?? "";
}

function responsesOf(route: Route, schemas: Schemas): Record<string, JsonSchema> {
  const responses: Record<string, JsonSchema> = {};
  for (const status of errorStatuses(route)) responses[status] = { $ref: "#/components/responses/Problem" };
  for (const response of routeResponses(route)) responses[response.status] = responseOf(route, response, schemas);
  if (route.versioned && route.method === "GET") responses[304] = { $ref: "#/components/responses/NotModified" };
  responses["default"] = { $ref: "#/components/responses/Problem" };
  return responses;
}

/** All error statuses of a route: those that follow from its input and role, and its own. */
function errorStatuses(route: Route): readonly number[] {
  const takesInput = route.method !== "GET" || route.query !== undefined || pathParameters(route.path).length > 0;
  const kinds: readonly FaultKind[] = [
    ...(takesInput ? (["invalid-argument"] as const) : []),
    ...(route.role === "public" ? [] : (["unauthenticated", "permission-denied"] as const)),
    ...(route.role === "public" ? [] : (["resource-exhausted"] as const)),
    ...(route.idempotent ? (["conflict"] as const) : []),
    ...route.faults,
    "internal",
    "unavailable",
  ];
  const httpErrors = [
    ...(route.versioned ? (["precondition-failed"] as const) : []),
    ...(route.idempotent ? (["unprocessable-content"] as const) : []),
    ...(route.body === undefined ? [] : (["payload-too-large", "unsupported-media-type"] as const)),
  ];
  const statuses = [
    ...kinds.map((kind) => HTTP_STATUS_OF_KIND[kind]),
    ...httpErrors.map((name) => HTTP_ERRORS[name].status),
  ];
  return [...new Set<number>(statuses)].sort((a, b) => a - b);
}

function responseOf(route: Route, response: RouteResponse, schemas: Schemas): JsonSchema {
  const headers: ResponseHeader[] = [
    "CorrelationId",
    ...(route.paged ? (["TotalCount", "NextPageToken"] as const) : []),
    ...(route.versioned && route.method !== "DELETE" && response.status === 200 ? (["ETag"] as const) : []),
    ...(response.status === 201 || response.status === 202 ? (["Location"] as const) : []),
    ...(route.idempotent ? (["IdempotencyReplayed"] as const) : []),
    ...(route.method === "GET" ? [] : (["Warning"] as const)),
    ...(response.headers ?? []),
  ];
  return {
    description: response.description,
    headers: Object.fromEntries(headers.map((name) => [headerName(name), { $ref: `#/components/headers/${name}` }])),
    ...bodyOf(response, schemas),
  };
}

function bodyOf(response: RouteResponse, schemas: Schemas): JsonSchema {
  if (response.schema !== undefined) {
    return { content: contentOf([response.mediaType ?? "application/json"], schemas.of(response.schema)) };
  }
  return response.mediaType === undefined ? {} : { content: contentOf([response.mediaType], { type: "string" }) };
}

function contentOf(mediaTypes: readonly string[], schema: JsonSchema, example?: object): JsonSchema {
  const content = example === undefined ? { schema } : { schema, example };
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, content]));
}
