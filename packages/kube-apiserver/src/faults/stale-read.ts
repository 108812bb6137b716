import { isJsonArray, isJsonObject, type JsonObject } from "@oaas/kube-core";
import type { Api, ApiRequest, ApiResponse } from "../api.ts";
import { objectResponse, statusResponse } from "../request/response/responses.ts";
import { notFound } from "../request/response/status-errors.ts";
import { parseResourcePath } from "../request/routing/resource-path.ts";

const PLAIN = { syntax: "json", isPretty: false } as const;

/** A read as of some revisions ago, as far as history reaches; other requests unchanged. */
export async function createStaleResponse(api: Api, request: ApiRequest, revisionsBack: number): Promise<ApiResponse> {
  const [path = "", search = ""] = request.target.split("?", 2);
  const place = parseResourcePath(path);
  const query = new URLSearchParams(search);
  const isRead = request.method === "GET" && place?.resource !== undefined && place.subresource === undefined;
  if (!isRead || query.has("watch") || query.has("continue")) return api.handle(request);
  const { name, resource = "", group } = place;
  const collection = name === undefined ? path : path.slice(0, path.lastIndexOf("/"));
  const sendList = (extra: Record<string, string>): Promise<ApiResponse> =>
    api.handle({
      ...request,
      target: `${collection}?${new URLSearchParams({ ...Object.fromEntries(query), ...extra }).toString()}`,
    });
  const current = parseBody(await sendList({ limit: "1" }));
  const revision = Number(metadataOf(current)["resourceVersion"] ?? 0) - revisionsBack;
  const selected = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  const response = await sendList({ resourceVersion: String(revision), resourceVersionMatch: "Exact", ...selected });
  if (revision < 1 || response.status !== 200) return api.handle(request);
  if (name === undefined) return response;
  const list = parseBody(response);
  const [found] = isJsonArray(list["items"]) ? list["items"] : [];
  if (!isJsonObject(found)) return statusResponse(notFound({ group, resource }, name));
  const kind = typeof list["kind"] === "string" ? list["kind"].replace(/List$/, "") : "";
  return objectResponse(200, { kind, apiVersion: list["apiVersion"] ?? "", ...found }, PLAIN);
}

function parseBody({ body }: ApiResponse): JsonObject {
  const value: unknown = typeof body === "string" ? JSON.parse(body) : {};
  return isJsonObject(value) ? value : {};
}

function metadataOf(object: JsonObject): JsonObject {
  return isJsonObject(object["metadata"]) ? object["metadata"] : {};
}
