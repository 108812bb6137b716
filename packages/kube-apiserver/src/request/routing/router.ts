import type { Result } from "@oaas/foundation";
import { type JsonObject, parseFieldSelector, type Status } from "@oaas/kube-core";
import type { ApiRequest, ApiResponse } from "../../api.ts";
import type { FoundKind, KindRegistry } from "../../kinds/kind-registry.ts";
import type { Kind, KindVersion } from "../../kinds/kind.ts";
import type { ResourceEndpoint } from "../../verbs/resource-endpoint.ts";
import { isBuiltIn } from "../../verbs/verb-context.ts";
import { pageNotFound, statusResponse } from "../response/responses.ts";
import { badRequest, methodNotAllowed, notFound, unknownPath, verbNotSupported } from "../response/status-errors.ts";
import { parseResourcePath, type ResourcePath } from "./resource-path.ts";

/** A non-resource endpoint: responds when the path is its own. */
export interface PathHandler {
  handle(request: ApiRequest, path: string, query: URLSearchParams): ApiResponse | Promise<ApiResponse> | undefined;
}

/** A requested action, for authorization. */
export interface RequestAttributes {
  readonly verb: string;
  readonly path: string;
  /** Missing for non-resource paths. */
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A virtual resource: posted, answered, and never stored. */
export interface VirtualRequest {
  readonly request: ApiRequest;
  readonly kind: Kind;
  readonly namespace: string;
  /** The object of the request, if any: `serviceaccounts/default/token`. */
  readonly name?: string;
  readonly subresource?: string;
  readonly body: JsonObject;
}

/** Answers virtual resources: access reviews, tokens. Undefined for unsupported ones. */
export interface VirtualResources {
  handle(request: VirtualRequest): Result<JsonObject, Status> | undefined;
}

/** A role or binding to be written, and the one it replaces. */
export interface RoleWrite {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly object: JsonObject;
  readonly live?: JsonObject;
}

/** Checks privilege escalation: the rejection, or undefined. */
export interface EscalationGuard {
  check(request: ApiRequest, roleWrite: RoleWrite): Status | undefined;
}

/** A request to a subresource that connects to pods instead of reading an object. */
export interface ConnectRequest {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** The path behind the subresource, as sent. */
  readonly rest: string;
}

/** Serves `pods/log` and the proxies of pods and Services. */
export interface ConnectHandlers {
  serveLog(request: ConnectRequest): ApiResponse;
  proxy(request: ConnectRequest): Promise<ApiResponse>;
}

/** Checks access: the rejection (401 or 403), or undefined. */
export interface RequestGuard {
  check(request: ApiRequest, attempt: RequestAttributes): Status | undefined;
}

export interface RouterOptions {
  readonly kinds: KindRegistry;
  readonly endpoint: ResourceEndpoint;
  readonly pages: readonly PathHandler[];
  readonly guard?: RequestGuard;
  readonly connect?: ConnectHandlers;
}

const PROXIED: ReadonlySet<string> = new Set(["pods", "services"]);

/** Routes requests. */
export class Router {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    const [path = "", search = ""] = splitOnce(request.target, "?");
    const query = new URLSearchParams(search);
    const resourcePath = parseResourcePath(path);
    const { resource } = resourcePath ?? {};
    const denial = this.#options.guard?.check(request, getAttributes(request, path, query, resourcePath));
    if (denial !== undefined) return statusResponse(denial);
    for (const page of this.#options.pages) {
      const response = await page.handle(request, path, query);
      if (response !== undefined) return response;
    }
    if (resourcePath === undefined || resource === undefined) return pageNotFound();
    return (
      this.#connect(request, query, path, resourcePath) ?? this.#resource(request, query, { ...resourcePath, resource })
    );
  }

  /** Proxies accept every method and any path behind them; logs are read. */
  #connect(
    request: ApiRequest,
    query: URLSearchParams,
    path: string,
    { group, version, resource = "", namespace, name, subresource = "", isOldWatch }: ResourcePath,
  ): ApiResponse | Promise<ApiResponse> | undefined {
    const { connect } = this.#options;
    if (!connect || group !== "" || version !== "v1" || namespace === undefined || name === undefined || isOldWatch) {
      return undefined;
    }
    const target = { request, query, resource, namespace, name, rest: pathBehindSubresource(path) };
    const [kind = ""] = subresource.split("/");
    if (kind === "proxy" && PROXIED.has(resource)) return connect.proxy(target);
    const isLog = subresource === "log" && resource === "pods" && request.method === "GET";
    return isLog ? connect.serveLog(target) : undefined;
  }

  #resource(
    request: ApiRequest,
    query: URLSearchParams,
    path: ResourcePath & { readonly resource: string },
  ): ApiResponse | Promise<ApiResponse> {
    const found = this.#options.kinds.find(path.group, path.version, path.resource);
    if (found === undefined || !matchesScope(found.kind, path, request.method)) return this.#unknown(path, found);
    const { namespace = "", name, subresource } = path;
    const error = checkVerb(found, request.method, path);
    if (error !== undefined) return error;
    return this.#options.endpoint.handle({
      ...found,
      namespace,
      request,
      query,
      isOldWatch: path.isOldWatch,
      ...(name === undefined ? {} : { name }),
      ...(subresource === undefined ? {} : { subresource }),
    });
  }

  /** Built-in groups know their resources; for others the whole path is unknown. */
  #unknown({ group, version }: ResourcePath, found: FoundKind | undefined): ApiResponse {
    const isOwn =
      group === "" ||
      (found !== undefined && isBuiltIn(found.kind)) ||
      this.#options.kinds
        .builtIn()
        .some((kind) => kind.group === group && kind.versions.some(({ name }) => name === version));
    return isOwn ? statusResponse(unknownPath()) : pageNotFound();
  }
}

function matchesScope(kind: Kind, { namespace, name }: ResourcePath, method: string): boolean {
  if (!kind.isNamespaced) return namespace === undefined;
  if (namespace !== undefined) return true;
  // Lists over all namespaces; for built-in kinds such a path exists for every method.
  return name === undefined && (method === "GET" || isBuiltIn(kind));
}

function checkVerb({ kind, version }: FoundKind, method: string, path: ResourcePath): ApiResponse | undefined {
  const { name, subresource, namespace } = path;
  if (subresource !== undefined) return checkSubresource(kind, version, method, { name: name ?? "", subresource });
  const isAllNamespaces = kind.isNamespaced && namespace === undefined;
  const verb = getVerb(method, name !== undefined);
  if (method === "PUT" && name === undefined && !isBuiltIn(kind))
    return statusResponse(badRequest("name must be provided"));
  const isAllowed = verb !== undefined && kind.verbs.includes(verb) && !(isAllNamespaces && verb !== "list");
  return isAllowed ? undefined : statusResponse(methodNotAllowed());
}

function checkSubresource(
  kind: Kind,
  version: KindVersion,
  method: string,
  { name, subresource }: { readonly name: string; readonly subresource: string },
): ApiResponse | undefined {
  const verbs = getSubresourceVerbs(version, subresource);
  if (verbs === undefined) return statusResponse(isBuiltIn(kind) ? unknownPath() : notFound(kind, name));
  const verb = method === "POST" ? "create" : getVerb(method, true);
  if (verb !== undefined && verbs.includes(verb)) return undefined;
  return statusResponse(isBuiltIn(kind) ? methodNotAllowed() : verbNotSupported(verb ?? method.toLowerCase(), kind));
}

function getSubresourceVerbs(version: KindVersion, subresource: string): readonly string[] | undefined {
  const listed = version.subresources?.find(({ name }) => name === subresource);
  if (listed !== undefined) return listed.verbs;
  const isDeclared =
    (subresource === "status" && version.hasStatus) || (subresource === "scale" && version.scale !== undefined);
  return isDeclared ? ["get", "patch", "update"] : undefined;
}

function getVerb(method: string, isNamed: boolean): string | undefined {
  switch (method) {
    case "GET":
      return isNamed ? "get" : "list";
    case "POST":
      return isNamed ? undefined : "create";
    case "PUT":
      return isNamed ? "update" : undefined;
    case "PATCH":
      return isNamed ? "patch" : undefined;
    case "DELETE":
      return isNamed ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}

function getAttributes(
  request: ApiRequest,
  path: string,
  query: URLSearchParams,
  resourcePath: ResourcePath | undefined,
): RequestAttributes {
  if (resourcePath?.resource === undefined) return { verb: request.method.toLowerCase(), path };
  const { isOldWatch, ...target } = resourcePath;
  // What follows a subresource belongs to it, and so does the query of a proxied request.
  const [subresource] = target.subresource?.split("/") ?? [];
  const isWatch =
    request.method === "GET" &&
    subresource !== "proxy" &&
    (isOldWatch || (query.has("watch") && query.get("watch") !== "false"));
  const isCreate = request.method === "POST";
  const method = request.method === "HEAD" ? "GET" : request.method;
  const verb = isCreate ? "create" : (getVerb(method, target.name !== undefined) ?? "");
  const name = target.name ?? (verb === "list" ? getSelectedName(query) : undefined);
  return {
    verb: isWatch ? "watch" : verb,
    path,
    ...target,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** What follows `/api/v1/namespaces/{namespace}/{resource}/{name}/{subresource}`, as sent. */
function pathBehindSubresource(path: string): string {
  return /^(?:\/+[^/]+){7}(?<rest>\/.*)?$/s.exec(path)?.groups?.["rest"] ?? "";
}

/** The single name that a list or watch selects: permission to read that object is sufficient. */
function getSelectedName(query: URLSearchParams): string | undefined {
  const selected = parseFieldSelector(query.get("fieldSelector") ?? "");
  if (!selected.ok) return undefined;
  const name = selected.value.find(({ field, operator }) => field === "metadata.name" && operator === "=")?.value ?? "";
  return name === "" || name === "." || name === ".." || /[/%]/.test(name) ? undefined : name;
}

function splitOnce(text: string, separator: string): readonly string[] {
  const target = text.indexOf(separator);
  return target < 0 ? [text] : [text.slice(0, target), text.slice(target + 1)];
}
