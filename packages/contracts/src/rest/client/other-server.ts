import { failedPrecondition, type Fault } from "@oaas/foundation";
import { fieldsOf } from "../reading/members.ts";
import type { Route } from "../routes/route.ts";
import { ROUTES, type OperationId } from "../routes/table.ts";

/** A response without the correlation id that every response of the package manager has. */
export interface UnmarkedResponse {
  readonly status: number;
  readonly text: string;
}

/**
 * The fault for a response of another server, such as a web site or a Kubernetes API server; undefined if a package manager
 * of another version, or a proxy in front of one, may have sent it.
 */
export function otherServerFault(baseUrl: string, id: OperationId, response: UnmarkedResponse): Fault | undefined {
  const what = describeServer(id, response);
  if (what === undefined) return undefined;
  return failedPrecondition(baseUrl, `${baseUrl} is not a package manager: ${what}`);
}

function describeServer(id: OperationId, { status, text }: UnmarkedResponse): string | undefined {
  if (/\bHTTPS (?:port|server)\b/.test(text)) return "it expects TLS (https://)";
  const body = parseJson(text);
  if (isKubernetesStatus(body)) return "it is a Kubernetes API server";
  const { response, otherResponses = [] }: Route = ROUTES[id];
  const expected = [response, ...otherResponses].find((each) => each.status === status);
  if (expected !== undefined) {
    const isSimilar = expected.schema === undefined || hasShape(body, fieldsOf(expected.schema));
    return isSimilar ? undefined : describeBody(text, body);
  }
  // A proxy in front of a package manager may send these with a page of its own.
  if (status >= 500 || status === 401 || status === 403 || status === 429) return undefined;
  return isProblem(body) ? undefined : describeBody(text, body);
}

/** Whether a value is a list or has a known field. Package managers of other versions may lack any single field. */
function hasShape(body: unknown, { members, items }: ReturnType<typeof fieldsOf>): boolean {
  if (items !== undefined) return Array.isArray(body);
  if (typeof body !== "object" || body === null || Array.isArray(body)) return false;
  return members === undefined || Object.keys(members).some((name) => name in body);
}

function describeBody(text: string, body: unknown): string {
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(text)) {
    const title = /<title[^<>]*>([^<]{1,200})<\/title>/i.exec(text)?.[1]?.trim().slice(0, 80);
    return `it answers with a web page${title === undefined ? "" : ` ("${title}")`}`;
  }
  return body === undefined ? "its answer is not JSON" : "it is another JSON API";
}

function isKubernetesStatus(body: unknown): boolean {
  const { kind, apiVersion } = (body ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown };
  return kind === "Status" && apiVersion === "v1";
}

/** The error bodies of package managers of all versions. */
function isProblem(body: unknown): boolean {
  return typeof body === "object" && body !== null && ("error" in body || "detail" in body || "violations" in body);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
