import type { Api } from "@oaas/kube-apiserver";
import type { TokenUser } from "@oaas/real-components";
import type { AuditedRequest } from "./audit.ts";

const ANONYMOUS = "system:anonymous";

export interface AuditedApi {
  readonly api: Api;
  /** All completed requests and started watches. */
  trail(): readonly AuditedRequest[];
}

/** Records all requests, like the audit log of a real API server. */
export function auditedApi(api: Api, users: readonly TokenUser[]): AuditedApi {
  const requests: AuditedRequest[] = [];
  const names = new Map(users.map(({ token, name }) => [`Bearer ${token}`, name]));
  return {
    api: {
      handle: async (request) => {
        const response = await api.handle(request);
        const authorization = request.headers["authorization"] ?? "";
        requests.push({
          user: names.get(authorization) ?? (response.status === 401 ? ANONYMOUS : subjectOf(authorization)),
          ...parseRequest(request.method, request.target),
          path: request.target,
          status: response.status,
        });
        return response;
      },
    },
    trail: () => [...requests],
  };
}

/** The subject of a service account token. */
function subjectOf(authorization: string): string {
  const [, claims] = authorization.split(".");
  if (claims === undefined) return ANONYMOUS;
  const { sub = ANONYMOUS } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { readonly sub?: string };
  return sub;
}

type ParsedRequest = Pick<AuditedRequest, "verb" | "group" | "resource" | "subresource" | "namespace" | "name">;

function parseRequest(method: string, target: string): ParsedRequest {
  const [path = "", search = ""] = target.split("?", 2);
  const [root, ...rest] = path.split("/").filter((part) => part !== "");
  const nothing = { group: "", resource: "", subresource: "", namespace: "", name: "" };
  const [group = "", version, ...parts] = root === "api" ? ["", ...rest] : rest;
  const isResource = (root === "api" || root === "apis") && version !== undefined && parts.length > 0;
  if (!isResource) return { verb: method.toLowerCase(), ...nothing };
  const isInside = parts[0] === "namespaces" && parts.length > 2 && parts[2] !== "status" && parts[2] !== "finalize";
  const [resource = "", name = "", ...subresource] = isInside ? parts.slice(2) : parts;
  const namespace = parts[0] === "namespaces" ? (parts[1] ?? "") : "";
  const isWatch = new URLSearchParams(search).get("watch");
  const verb = verbOf(method, name !== "", isWatch !== null && isWatch !== "false");
  return { verb, group, resource, subresource: subresource.join("/"), namespace, name };
}

function verbOf(method: string, isNamed: boolean, isWatch: boolean): string {
  if (method === "GET" && isWatch) return "watch";
  const verbs: Readonly<Record<string, string>> = {
    GET: isNamed ? "get" : "list",
    POST: "create",
    PUT: "update",
    PATCH: "patch",
    DELETE: isNamed ? "delete" : "deletecollection",
  };
  return verbs[method] ?? method.toLowerCase();
}
