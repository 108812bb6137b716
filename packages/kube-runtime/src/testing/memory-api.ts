import { applyMergePatch, type JsonValue, type KubeObject, type Stored } from "@oaas/kube-core";
import type { HttpRequest } from "../client/transport.ts";
import { scriptedTransport, type Answer, type ScriptedTransport } from "./scripted-transport.ts";

/** A small in-memory API server: objects by path, versions, conflicts, finalizers. No watches, no validation. */
export interface MemoryApi {
  readonly transport: ScriptedTransport;
  /** Objects by path. */
  readonly objects: Map<string, Stored<KubeObject>>;
  /** The objects of one kind, in creation order. */
  ofKind<T extends KubeObject>(kind: string): Stored<T>[];
  /** Overrides the response to a request: a response, "hang", or a thrown fault; undefined lets it through. */
  intercept: (request: HttpRequest) => Answer | "hang" | undefined;
  /** Called after a write and before its response. */
  afterWrite: (request: HttpRequest) => Answer | "hang" | undefined;
}

/** Creates an empty server. */
export function memoryApi(): MemoryApi {
  const objects = new Map<string, Stored<KubeObject>>();
  let version = 0;

  const store = (path: string, object: KubeObject, uid: string): Stored<KubeObject> => {
    version += 1;
    const metadata = { ...object.metadata, name: object.metadata.name ?? "", uid, resourceVersion: String(version) };
    const stored = { ...object, metadata };
    objects.set(path, stored);
    return stored;
  };
  const replace = (path: string, present: Stored<KubeObject>, next: KubeObject): Answer => {
    const expected = next.metadata.resourceVersion;
    if (expected !== undefined && expected !== present.metadata.resourceVersion)
      return errorResponse(409, "Conflict", path);
    const stored = store(path, next, present.metadata.uid);
    if (stored.metadata.deletionTimestamp !== undefined && (stored.metadata.finalizers ?? []).length === 0) {
      objects.delete(path);
    }
    return { status: 200, body: stored };
  };
  const write = (request: HttpRequest, path: string): Answer => {
    const body = JSON.parse(String(request.body ?? "null")) as JsonValue;
    if (request.method === "POST") {
      const object = body as unknown as KubeObject;
      const at = `${path}/${object.metadata.name ?? ""}`;
      if (objects.has(at)) return errorResponse(409, "AlreadyExists", at);
      return { status: 201, body: store(at, object, `uid-${version + 1}`) };
    }
    const present = objects.get(path);
    if (!present) return errorResponse(404, "NotFound", path);
    if (request.method === "PUT") return replace(path, present, body as unknown as KubeObject);
    if (request.method === "PATCH") {
      return replace(path, present, applyMergePatch(present, body) as unknown as KubeObject);
    }
    if ((present.metadata.finalizers ?? []).length === 0) objects.delete(path);
    else store(path, { ...present, metadata: { ...present.metadata, deletionTimestamp: "now" } }, present.metadata.uid);
    return { status: 200 };
  };

  const api: MemoryApi = {
    objects,
    ofKind: <T extends KubeObject>(kind: string) =>
      [...objects.values()].filter((object) => object.kind === kind) as Stored<T>[],
    intercept: () => undefined,
    afterWrite: () => undefined,
    transport: scriptedTransport((request) => {
      const intercepted = api.intercept(request);
      if (intercepted !== undefined) return intercepted;
      const [path = ""] = request.path.split("?");
      if (request.method !== "GET") {
        const answer = write(request, path);
        return api.afterWrite(request) ?? answer;
      }
      const present = objects.get(path);
      return present ? { status: 200, body: present } : errorResponse(404, "NotFound", path);
    }),
  };
  return api;
}

/** An error response of the API. */
export function errorResponse(code: number, reason: string, name: string): Answer {
  return {
    status: code,
    body: { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, details: { name } },
  };
}
