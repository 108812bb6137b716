import type { KubeObject, Stored } from "@oaas/kube-core";
import type { HttpRequest, HttpResponse, Transport } from "@oaas/kube-runtime";

/** An in-memory cluster that responds at once and marks Deployments as ready when applied, to measure our own time. */
export interface InstantApi {
  readonly transport: Transport;
  /** Stores an object before any watch starts. */
  put(path: string, object: KubeObject): Stored<KubeObject>;
  readonly writes: number;
}

interface Watch {
  readonly collection: string;
  readonly wants: (object: KubeObject) => boolean;
  readonly push: (type: string, object: unknown) => void;
}

const READY = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  readyReplicas: 1,
  availableReplicas: 1,
  conditions: [
    { type: "Available", status: "True", reason: "MinimumReplicasAvailable" },
    { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
  ],
};

/** Creates an empty cluster. */
export function instantApi(): InstantApi {
  const collections = new Map<string, Map<string, Stored<KubeObject>>>();
  const watches = new Set<Watch>();
  let version = 1;
  let writes = 0;

  const inCollection = (collection: string): Map<string, Stored<KubeObject>> => {
    const objects = collections.get(collection) ?? new Map<string, Stored<KubeObject>>();
    collections.set(collection, objects);
    return objects;
  };
  const put = (path: string, object: KubeObject): Stored<KubeObject> => {
    const { collection, id, subresource } = placeOf(path);
    const objects = inCollection(collection);
    const present = objects.get(id);
    version += 1;
    const wanted = present && subresource === "status" ? { ...present, status: statusOf(object) } : object;
    const status =
      object.kind === "Deployment" ? { status: READY } : present && { status: statusOf(wanted) ?? statusOf(present) };
    const stored = {
      ...wanted,
      ...status,
      metadata: {
        creationTimestamp: "2026-01-01T00:00:00Z",
        generation: 1,
        ...wanted.metadata,
        name: id.slice(id.indexOf("/") + 1),
        uid: present?.metadata.uid ?? `00000000-0000-4000-8000-${String(version).padStart(12, "0")}`,
        resourceVersion: String(version),
      },
    } as Stored<KubeObject>;
    objects.set(id, stored);
    for (const watch of watches)
      if (watch.collection === collection && watch.wants(stored)) watch.push(present ? "MODIFIED" : "ADDED", stored);
    return stored;
  };
  const watching = (request: HttpRequest, collection: string, wants: Watch["wants"]): HttpResponse => {
    const lines: Uint8Array[] = [];
    let wake = (): void => undefined;
    const push = (type: string, object: unknown): void => {
      lines.push(new TextEncoder().encode(`${JSON.stringify({ type, object })}\n`));
      wake();
    };
    for (const object of inCollection(collection).values()) if (wants(object)) push("ADDED", object);
    const annotations = { "k8s.io/initial-events-end": "true" };
    push("BOOKMARK", { metadata: { resourceVersion: String(version), annotations } });
    const watch = { collection, wants, push };
    watches.add(watch);
    return {
      status: 200,
      headers: {},
      text: () => Promise.resolve(""),
      chunks: async function* () {
        request.signal.addEventListener("abort", () => wake(), { once: true });
        while (!request.signal.aborted) {
          const line = lines.shift();
          if (line) yield line;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
        watches.delete(watch);
      },
    };
  };
  const answer = (request: HttpRequest): HttpResponse => {
    const [path = "", query = ""] = request.path.split("?");
    if (path === "/api" || path === "/apis") return json({ items: [] });
    const { collection } = placeOf(path);
    const wants = labelled(new URLSearchParams(query).get("labelSelector") ?? "");
    if (request.purpose === "stream") return watching(request, collection, wants);
    if (request.method === "GET")
      return json({
        metadata: { resourceVersion: String(version) },
        items: [...inCollection(collection).values()].filter(wants),
      });
    writes += 1;
    const body = JSON.parse(String(request.body ?? "{}")) as KubeObject;
    return json(request.method === "POST" ? body : put(path, body));
  };
  return {
    transport: { send: (request) => Promise.resolve(answer(request)), close: () => Promise.resolve() },
    put,
    get writes() {
      return writes;
    },
  };
}

function statusOf(object: KubeObject): unknown {
  return (object as { readonly status?: unknown }).status;
}

function placeOf(path: string): { readonly collection: string; readonly id: string; readonly subresource: string } {
  const parts = path.split("/").slice(1);
  const base = parts[0] === "api" ? 2 : 3;
  const isNamespaced = parts[base] === "namespaces" && parts.length > base + 2;
  const [resource = "", name = "", subresource = ""] = parts.slice(isNamespaced ? base + 2 : base);
  const namespace = isNamespaced ? parts[base + 1] : "";
  return { collection: `${parts.slice(0, base).join("/")}/${resource}`, id: `${namespace}/${name}`, subresource };
}

function labelled(selector: string): (object: KubeObject) => boolean {
  const wanted = selector
    .split(",")
    .filter((part) => part !== "")
    .map((part) => part.split("="));
  return ({ metadata }) =>
    wanted.every(([label = "", value]) => {
      const has = metadata.labels?.[label];
      return value === undefined ? has !== undefined : has === value;
    });
}

function json(body: unknown): HttpResponse {
  const text = JSON.stringify(body);
  return {
    status: 200,
    headers: {},
    text: () => Promise.resolve(text),
    chunks: async function* () {
      yield new TextEncoder().encode(text);
    },
  };
}
