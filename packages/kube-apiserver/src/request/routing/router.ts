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
  answer(request: ApiRequest, path: string, query: URLSearchParams): ApiResponse | Promise<ApiResponse> | undefined;
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
  answer(question: VirtualRequest): Result<JsonObject, Status> | undefined;
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
  refusal(request: ApiRequest, grant: RoleWrite): Status | undefined;
}

/** Checks access: the rejection (401 or 403), or undefined. */
export interface RequestGuard {
  refusal(request: ApiRequest, attempt: RequestAttributes): Status | undefined;
}

export interface RouterOptions {
  readonly kinds: KindRegistry;
  readonly endpoint: ResourceEndpoint;
  readonly pages: readonly PathHandler[];
  readonly guard?: RequestGuard;
}

/** Routes requests. */
export class Router {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  async answer(request: ApiRequest): Promise<ApiResponse> {
    const [path = "", search = ""] = splitOnce(request.target, "?");
    const query = new URLSearchParams(search);
    const place = parseResourcePath(path);
    const { resource } = place ?? {};
    const refusal = this.#options.guard?.refusal(request, attributesOf(request, path, query, place));
    if (refusal !== undefined) return statusResponse(refusal);
    for (const page of this.#options.pages) {
      const answer = await page.answer(request, path, query);
      if (answer !== undefined) return answer;
    }
    if (place === undefined || resource === undefined) return pageNotFound();
    return this.#resource(request, query, { ...place, resource });
  }

  #resource(
    request: ApiRequest,
    query: URLSearchParams,
    place: ResourcePath & { readonly resource: string },
  ): ApiResponse | Promise<ApiResponse> {
    const found = this.#options.kinds.find(place.group, place.version, place.resource);
    if (found === undefined || !isRightScope(found.kind, place, request.method)) return this.#unknown(place, found);
    const { namespace = "", name, subresource } = place;
    const refusal = verbRefusal(found, request.method, place);
    if (refusal !== undefined) return refusal;
    return this.#options.endpoint.answer({
      ...found,
      namespace,
      request,
      query,
      isOldWatch: place.isOldWatch,
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

function isRightScope(kind: Kind, { namespace, name }: ResourcePath, method: string): boolean {
  if (!kind.isNamespaced) return namespace === undefined;
  if (namespace !== undefined) return true;
  // Lists over all namespaces; for built-in kinds such a path exists for every method.
  return name === undefined && (method === "GET" || isBuiltIn(kind));
}

function verbRefusal({ kind, version }: FoundKind, method: string, place: ResourcePath): ApiResponse | undefined {
  const { name, subresource, namespace } = place;
  if (subresource !== undefined) return subresourceRefusal(kind, version, method, { name: name ?? "", subresource });
  const isEverywhere = kind.isNamespaced && namespace === undefined;
  const verb = verbOf(method, name !== undefined);
  if (method === "PUT" && name === undefined && !isBuiltIn(kind))
    return statusResponse(badRequest("name must be provided"));
  const isAllowed = verb !== undefined && kind.verbs.includes(verb) && !(isEverywhere && verb !== "list");
  return isAllowed ? undefined : statusResponse(methodNotAllowed());
}

function subresourceRefusal(
  kind: Kind,
  version: KindVersion,
  method: string,
  { name, subresource }: { readonly name: string; readonly subresource: string },
): ApiResponse | undefined {
  const verbs = subresourceVerbs(version, subresource);
  if (verbs === undefined) return statusResponse(isBuiltIn(kind) ? unknownPath() : notFound(kind, name));
  const verb = method === "POST" ? "create" : verbOf(method, true);
  if (verb !== undefined && verbs.includes(verb)) return undefined;
  return statusResponse(isBuiltIn(kind) ? methodNotAllowed() : verbNotSupported(verb ?? method.toLowerCase(), kind));
}

function subresourceVerbs(version: KindVersion, subresource: string): readonly string[] | undefined {
  const listed = version.subresources?.find(({ name }) => name === subresource);
  if (listed !== undefined) return listed.verbs;
  const isThere =
    (subresource === "status" && version.hasStatus) || (subresource === "scale" && version.scale !== undefined);
  return isThere ? ["get", "patch", "update"] : undefined;
}

function verbOf(method: string, isNamed: boolean): string | undefined {
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

function attributesOf(
  request: ApiRequest,
  path: string,
  query: URLSearchParams,
  place: ResourcePath | undefined,
): RequestAttributes {
  if (place?.resource === undefined) return { verb: request.method.toLowerCase(), path };
  const { isOldWatch, ...at } = place;
  const isWatch = request.method === "GET" && (isOldWatch || (query.has("watch") && query.get("watch") !== "false"));
  const isCreate = request.method === "POST";
  const verb = isCreate ? "create" : (verbOf(request.method, at.name !== undefined) ?? request.method.toLowerCase());
  const name = at.name ?? (verb === "list" ? selectedName(query) : undefined);
  return { verb: isWatch ? "watch" : verb, path, ...at, ...(name === undefined ? {} : { name }) };
}

/** The single name that a list or watch selects: permission to read that object is sufficient. */
function selectedName(query: URLSearchParams): string | undefined {
  const selected = parseFieldSelector(query.get("fieldSelector") ?? "");
  if (!selected.ok) return undefined;
  const name = selected.value.find(({ field, operator }) => field === "metadata.name" && operator === "=")?.value ?? "";
  return name === "" || name === "." || name === ".." || /[/%]/.test(name) ? undefined : name;
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
