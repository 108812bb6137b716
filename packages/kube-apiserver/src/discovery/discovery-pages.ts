import { createHash } from "node:crypto";
import type { JsonObject } from "@oaas/kube-core";
import type { ApiRequest, ApiResponse } from "../api.ts";
import type { KindRegistry } from "../kinds/kind-registry.ts";
import type { Kind } from "../kinds/kind.ts";
import { KIND_DATA } from "../kinds/built-in/kind-data.ts";
import { statusResponse } from "../request/response/responses.ts";
import { unknownPath } from "../request/response/status-errors.ts";
import type { PathHandler } from "../request/routing/router.ts";
import { listGroups, type Group } from "./group-versions.ts";
import { aggregated, groupInfo, resourceList } from "./resource-lists.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const NO_CACHE = { "cache-control": "no-cache, private", vary: "Accept" };

/** Discovery: `/api`, `/apis` and below, plain or aggregated. `others` are kinds that are not in the registry. */
export function discoveryPages(kinds: KindRegistry, others: readonly Kind[] = []): PathHandler {
  let cached: { readonly edition: number; readonly groups: readonly Group[] } | undefined;
  const groups = (): readonly Group[] => {
    if (cached?.edition !== kinds.edition)
      cached = { edition: kinds.edition, groups: listGroups([...kinds.all(), ...others]) };
    return cached.groups;
  };
  return {
    handle: (request, path) =>
      path === "/"
        ? json({ paths: pathsOf(groups()) })
        : request.method === "GET"
          ? createDiscoveryResponse(request, path.replace(/\/$/, ""), groups())
          : undefined,
  };
}

/** The root paths of the server. */
function pathsOf(groups: readonly Group[]): readonly string[] {
  const cached = groups.flatMap(({ name, versions }) => {
    const root = name === "" ? "/api" : `/apis/${name}`;
    return [root, ...versions.map(({ version }) => `${root}/${version}`)];
  });
  return [...cached, ...OTHER_PATHS].toSorted();
}

const OTHER_PATHS = ["/apis", "/apis/", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];

function createDiscoveryResponse(request: ApiRequest, path: string, groups: readonly Group[]): ApiResponse | undefined {
  const [, root, name, version, ...more] = path.split("/");
  if (more.length > 0) return undefined;
  if (root === "api") return version === undefined ? core(request, name, groups) : undefined;
  if (root !== "apis") return undefined;
  const others = groups.filter((group) => group.name !== "");
  if (name === undefined) return createListResponse(request, others);
  const group = others.find((each) => each.name === name);
  if (group === undefined) return undefined;
  if (version === undefined) return json(groupInfo(group, true));
  const found = group.versions.find((each) => each.version === version);
  return found === undefined ? createUnknownVersion(group.name) : json(resourceList(name, found));
}

/** Built-in groups report an unknown version; other groups are unknown altogether. */
function createUnknownVersion(group: string): ApiResponse | undefined {
  return KIND_DATA.groups.includes(group) ? statusResponse(unknownPath()) : undefined;
}

function core(request: ApiRequest, version: string | undefined, groups: readonly Group[]): ApiResponse | undefined {
  const group = groups.find((each) => each.name === "");
  if (version === undefined) {
    if (acceptsAggregated(request)) return createAggregatedResponse(request, group === undefined ? [] : [group]);
    const serverAddress = request.headers["host"] ?? "";
    return json({
      kind: "APIVersions",
      versions: (group?.versions ?? []).map((each) => each.version),
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
    });
  }
  const found = group?.versions.find((each) => each.version === version);
  return found === undefined ? statusResponse(unknownPath()) : json(resourceList("", found));
}

function createListResponse(request: ApiRequest, groups: readonly Group[]): ApiResponse {
  if (acceptsAggregated(request)) return createAggregatedResponse(request, groups);
  return json({ kind: "APIGroupList", apiVersion: "v1", groups: groups.map((group) => groupInfo(group, false)) });
}

/** Whether the client's first supported form is the aggregated one. */
function acceptsAggregated({ headers }: ApiRequest): boolean {
  for (const entry of (headers["accept"] ?? "").split(",")) {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim());
    if (parameters.includes("as=APIGroupDiscoveryList")) {
      if (type === "application/json" && parameters.includes("v=v2") && parameters.includes("g=apidiscovery.k8s.io"))
        return true;
      continue;
    }
    if (type === "application/json" || type === "*/*") return false;
  }
  return false;
}

function createAggregatedResponse(request: ApiRequest, groups: readonly Group[]): ApiResponse {
  const body = JSON.stringify(aggregated(groups));
  const etag = `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"`;
  const headers = { ...NO_CACHE, etag, "content-type": AGGREGATED };
  if (request.headers["if-none-match"] === etag) return { status: 304, headers, body: "" };
  return { status: 200, headers, body };
}

function json(object: JsonObject): ApiResponse {
  return {
    status: 200,
    headers: { ...NO_CACHE, "content-type": "application/json" },
    body: `${JSON.stringify(object)}\n`,
  };
}
