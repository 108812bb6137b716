import { err, ok, type Clock, type Ids, type Result } from "@oaas/foundation";
import {
  equalJson,
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type Status,
  type StatusCause,
} from "@oaas/kube-core";
import type {
  ClusterObjects,
  DeleteOptions,
  DependentObject,
  ObjectChange,
  ObjectName,
  ResourceName,
  ServedKind,
} from "../cluster-objects.ts";
import { asJson, typed } from "../objects/cluster-view.ts";
import { resourceKey } from "../objects/resources.ts";
import { wholeSeconds } from "../objects/time.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A small working server for tests of controllers: names, versions, generations, finalizers, owners and graceful
 * deletion, without schemas. Suites that need full behaviour run on the embedded server.
 */
export class MemoryCluster implements ClusterObjects {
  readonly #objects = new Map<string, Map<string, JsonObject>>();
  readonly #kinds = new Map<string, ServedKind>();
  readonly #listeners = new Set<(change: ObjectChange) => void>();
  readonly #clock: Clock;
  readonly #ids: Ids;
  #revision = 0;
  /** Called before each write; a returned value rejects it. */
  rejectWrite: (verb: string, kind: ResourceName, object: JsonObject | ObjectName) => Status | undefined = () =>
    undefined;

  constructor(clock: Clock, ids: Ids, kinds: readonly ServedKind[]) {
    this.#clock = clock;
    this.#ids = ids;
    for (const kind of kinds) this.serve(kind);
  }

  serve(kind: ServedKind): void {
    this.#kinds.set(resourceKey(kind), kind);
  }

  kinds(): readonly ServedKind[] {
    return [...this.#kinds.values()];
  }

  get(kind: ResourceName, name: ObjectName): JsonObject | undefined {
    return this.#of(kind).get(pathOf(name));
  }

  list(kind: ResourceName, namespace?: string): readonly JsonObject[] {
    return [...this.#of(kind).entries()]
      .filter(([path]) => namespace === undefined || path.startsWith(`${namespace}/`))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
  }

  dependentsOf(uid: string): readonly DependentObject[] {
    return this.kinds().flatMap((kind) =>
      this.list(kind)
        .filter((object) => typed(object).metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false)
        .map((object) => ({ kind, object })),
    );
  }

  onChange(listener: (change: ObjectChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async create(kind: ResourceName, object: JsonObject): Promise<Result<JsonObject, Status>> {
    const error = this.rejectWrite("create", kind, object);
    if (error) return err(error);
    const { metadata } = typed<KubeObject>(object);
    const name = metadata.name ?? `${metadata.generateName ?? "object-"}${this.#ids.uuid().slice(0, 5)}`;
    const target = { ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }), name };
    if (this.get(kind, target)) return err(failure("AlreadyExists", `${kind.resource} "${name}" already exists`));
    const goes = metadata.namespace !== undefined && this.#isGoing(metadata.namespace);
    if (goes && kind.resource !== "events") {
      const reason = `unable to create new content in namespace ${metadata.namespace} because it is being terminated`;
      return err(failure("Forbidden", reason, [{ reason: "NamespaceTerminating" }]));
    }
    const status = kind.resource === "pods" ? { status: { phase: "Pending" } } : {};
    const created = {
      ...status,
      ...object,
      metadata: {
        ...metadata,
        name,
        uid: this.#ids.uuid(),
        creationTimestamp: wholeSeconds(this.#clock.now()),
        generation: 1,
      },
    };
    return ok(this.#commit(kind, target, asJson(created)));
  }

  async update(kind: ResourceName, object: JsonObject): Promise<Result<JsonObject, Status>> {
    return this.#change("update", kind, object, (live) => {
      const changed = !equalJson(object["spec"], live["spec"]);
      const generation = (typed(live).metadata.generation ?? 1) + (changed ? 1 : 0);
      const next = { ...object, metadata: { ...typed(object).metadata, generation } };
      return asJson(live["status"] === undefined ? next : { ...next, status: live["status"] });
    });
  }

  async updateStatus(kind: ResourceName, object: JsonObject): Promise<Result<JsonObject, Status>> {
    return this.#change("status", kind, object, (live) =>
      asJson({
        ...live,
        metadata: { ...typed(object).metadata, generation: typed(live).metadata.generation },
        status: object["status"] ?? {},
      }),
    );
  }

  async writeSubresource(
    kind: ResourceName,
    name: ObjectName,
    subresource: "binding" | "finalize",
    body: JsonObject,
  ): Promise<Result<JsonObject, Status>> {
    const live = this.get(kind, name);
    if (!live) return err(notFound(kind, name));
    if (subresource === "finalize") {
      const next = { ...live, spec: body["spec"] ?? {} };
      if (typed(live).metadata.deletionTimestamp !== undefined) return ok(this.#remove(kind, name));
      return ok(this.#commit(kind, name, next));
    }
    const target = isJsonObject(body["target"]) ? body["target"]["name"] : undefined;
    const spec = isJsonObject(live["spec"]) ? live["spec"] : {};
    const status = isJsonObject(live["status"]) ? live["status"] : {};
    const before = Array.isArray(status["conditions"]) ? status["conditions"].filter(isJsonObject) : [];
    const scheduled = {
      type: "PodScheduled",
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: wholeSeconds(this.#clock.now()),
    };
    const conditions = [...before.filter((condition) => condition["type"] !== "PodScheduled"), scheduled];
    return ok(
      this.#commit(kind, name, {
        ...live,
        spec: { ...spec, nodeName: target ?? "" },
        status: { ...status, conditions },
      }),
    );
  }

  async delete(kind: ResourceName, name: ObjectName, options: DeleteOptions): Promise<Result<JsonObject, Status>> {
    const live = this.get(kind, name);
    if (!live) return err(notFound(kind, name));
    const error = this.rejectWrite("delete", kind, name);
    if (error) return err(error);
    const { metadata } = typed<KubeObject>(live);
    if (options.uid !== undefined && options.uid !== metadata.uid) return err(failure("Conflict", "another uid"));
    if (options.resourceVersion !== undefined && options.resourceVersion !== metadata.resourceVersion) {
      return err(failure("Conflict", "another version"));
    }
    return ok(this.#delete(kind, name, live, options));
  }

  #delete(kind: ResourceName, name: ObjectName, live: JsonObject, options: DeleteOptions): JsonObject {
    const { metadata } = typed<KubeObject>(live);
    const remaining = (metadata.finalizers ?? []).filter((one) => one !== "foregroundDeletion" && one !== "orphan");
    const finalizers = [
      ...remaining,
      ...(options.propagation === "Foreground" ? ["foregroundDeletion"] : []),
      ...(options.propagation === "Orphan" ? ["orphan"] : []),
      ...(options.propagation === undefined
        ? (metadata.finalizers ?? []).filter((one) => !remaining.includes(one))
        : []),
    ];
    const spec = isJsonObject(live["spec"]) ? live["spec"] : {};
    const isPod = kind.resource === "pods" && typeof spec["nodeName"] === "string";
    const grace = options.gracePeriodSeconds ?? (isPod ? Number(spec["terminationGracePeriodSeconds"] ?? 30) : 0);
    const isGoing =
      kind.resource === "namespaces" && Array.isArray(spec["finalizers"]) && spec["finalizers"].length > 0;
    if (finalizers.length === 0 && grace === 0 && !isGoing) return this.#remove(kind, name);
    const { finalizers: _, ...rest } = metadata;
    const next = {
      ...live,
      metadata: {
        ...rest,
        ...(finalizers.length === 0 ? {} : { finalizers }),
        deletionTimestamp: metadata.deletionTimestamp ?? wholeSeconds(this.#clock.now() + grace * 1000),
        deletionGracePeriodSeconds: grace,
      },
      ...(isGoing ? { status: { phase: "Terminating" } } : {}),
    };
    return equalJson(next, live) ? live : this.#commit(kind, name, asJson(next));
  }

  #change(
    verb: "update" | "status",
    kind: ResourceName,
    object: JsonObject,
    merge: (live: JsonObject) => JsonObject,
  ): Result<JsonObject, Status> {
    const { name, namespace, resourceVersion } = typed<KubeObject>(object).metadata;
    const target = { ...(namespace === undefined ? {} : { namespace }), name };
    const live = this.get(kind, target);
    if (!live) return err(notFound(kind, target));
    const error = this.rejectWrite(verb, kind, object);
    if (error) return err(error);
    if (resourceVersion !== undefined && resourceVersion !== typed(live).metadata.resourceVersion) {
      return err(failure("Conflict", "the object has been modified"));
    }
    const next = merge(live);
    if (equalJson(strip(next), strip(live))) return ok(live);
    const { metadata } = typed<KubeObject>(next);
    const isHeld = kind.resource === "namespaces" || (metadata.finalizers ?? []).length > 0;
    const isFree = metadata.deletionTimestamp !== undefined && !isHeld;
    if (isFree && metadata.deletionGracePeriodSeconds === 0) return ok(this.#remove(kind, target));
    return ok(this.#commit(kind, target, next));
  }

  #commit(kind: ResourceName, name: ObjectName, object: JsonObject): JsonObject {
    const previous = this.get(kind, name);
    const metadata = { ...typed(object).metadata, resourceVersion: String((this.#revision += 1)) };
    const next = asJson({ ...object, metadata });
    this.#of(kind).set(pathOf(name), next);
    this.#notify({ kind, object: next, ...(previous === undefined ? {} : { previous }) });
    return next;
  }

  #remove(kind: ResourceName, name: ObjectName): JsonObject {
    const previous = this.get(kind, name) ?? {};
    this.#of(kind).delete(pathOf(name));
    this.#revision += 1;
    this.#notify({ kind, previous });
    return previous;
  }

  #notify(change: ObjectChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  #of(kind: ResourceName): Map<string, JsonObject> {
    const key = resourceKey(kind);
    const found = this.#objects.get(key) ?? new Map<string, JsonObject>();
    this.#objects.set(key, found);
    return found;
  }

  #isGoing(namespace: string): boolean {
    const found = this.get({ group: "", resource: "namespaces" }, { name: namespace });
    return found !== undefined && typed(found).metadata.deletionTimestamp !== undefined;
  }
}

function pathOf({ namespace = "", name }: ObjectName): string {
  return `${namespace}/${name}`;
}

function strip(object: JsonObject): JsonObject {
  const metadata: Mutable<KubeObject["metadata"]> = { ...typed(object).metadata };
  delete metadata.resourceVersion;
  return asJson({ ...object, metadata });
}

export function failure(reason: string, message: string, causes?: readonly StatusCause[]): Status {
  return { status: "Failure", reason, message, ...(causes === undefined ? {} : { details: { causes } }) };
}

function notFound(kind: ResourceName, name: ObjectName): Status {
  return failure("NotFound", `${kind.resource} "${name.name}" not found`);
}
