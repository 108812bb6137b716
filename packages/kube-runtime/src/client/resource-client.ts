import { invalidArgument, isFault, unavailable, type Fault, type Violation } from "@oaas/foundation";
import {
  formatObjectKey,
  resourcePath,
  type KubeObject,
  type ListMeta,
  type ObjectKey,
  type Stored,
} from "@oaas/kube-core";
import type { ListPage, WatchEvent, WatchSource } from "../watch/watch-source.ts";
import { linesOf } from "./json-lines.ts";
import type { ApiCall, CallOptions, Query, Requester } from "./requester.ts";
import { acceptOf, withTypeMeta, type ResourceType } from "./resource-type.ts";
import { readEvents } from "./watch-events.ts";

/** Selects objects by namespace, labels and fields. */
export interface Selection {
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Page and version of a list. */
export interface ListQuery extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

/** Options of a write. */
export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  /** Runs all server-side checks without writing. */
  readonly dryRun?: boolean;
  /** Unknown and duplicate fields: reject (Strict), warn (Warn) or drop them. Defaults to the server's choice. */
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
  readonly subresource?: "status" | "scale" | "resize";
}

/** Options of an apply. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes ownership of conflicting fields. */
  readonly force?: boolean;
}

/** Options and preconditions of a deletion. */
export interface DeleteOptions extends CallOptions {
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  /** Deletes only the object with this uid. */
  readonly uid?: string;
  /** Deletes only this version. */
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** JSON patch, JSON merge patch, or strategic merge patch for built-in kinds. For server-side apply use `apply`. */
export type PatchType = "json" | "merge" | "strategic";

const JSON_MEDIA = "application/json";

const PATCH_MEDIA = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const satisfies Record<PatchType, string>;

/** The fields of the scale subresource. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

interface RawList<T> {
  readonly metadata?: ListMeta;
  readonly items?: readonly T[] | null;
}

/** All API operations on objects of one kind. Objects are plain JSON. */
export class ResourceClient<T extends KubeObject> {
  readonly type: ResourceType<T>;
  readonly #requester: Requester;

  constructor(requester: Requester, type: ResourceType<T>) {
    this.#requester = requester;
    this.type = type;
  }

  /** Returns the object; throws not-found if it does not exist. */
  async get(key: ObjectKey, options: CallOptions & { readonly subresource?: string } = {}): Promise<Stored<T>> {
    return this.#object(this.#call("get", "GET", this.#at(key, options.subresource)), options);
  }

  /** Returns the object, or undefined if it does not exist. */
  async find(key: ObjectKey, options: CallOptions = {}): Promise<Stored<T> | undefined> {
    try {
      return await this.get(key, options);
    } catch (thrown) {
      if (isFault(thrown, "not-found")) return undefined;
      throw thrown;
    }
  }

  /** Returns one page. */
  async list(query: ListQuery = {}, options: CallOptions = {}): Promise<ListPage<Stored<T>>> {
    return this.#list(query, options, false);
  }

  async #list(query: ListQuery, options: CallOptions, once: boolean): Promise<ListPage<Stored<T>>> {
    const { namespace, ...rest } = query;
    const call = { ...this.#call("list", "GET", this.#collection(namespace), "list"), once };
    const list = await this.#requester.json<RawList<Stored<T>> | null>({ ...call, query: { ...rest } }, options);
    const { isVersioned = true } = this.type;
    const resourceVersion = list?.metadata?.resourceVersion ?? (isVersioned ? undefined : "");
    // Treating any other body as an empty list would delete every cached object.
    if (typeof resourceVersion !== "string" || !(Array.isArray(list?.items) || list?.items === null)) {
      throw unexpectedResponse(call, "list");
    }
    const next = list.metadata?.continue;
    return {
      items: (list.items ?? []).map((item) => withTypeMeta(this.type, item) as Stored<T>),
      resourceVersion,
      ...(next === undefined || next === "" ? {} : { continue: next }),
    };
  }

  /** Returns all objects, by pages of one version. */
  async *listAll(
    query: Selection = {},
    options: CallOptions & { readonly pageSize?: number } = {},
  ): AsyncGenerator<Stored<T>> {
    let next: string | undefined;
    do {
      const page = await this.list(
        { ...query, limit: options.pageSize ?? 500, ...(next === undefined ? {} : { continue: next }) },
        options,
      );
      yield* page.items;
      next = page.continue;
    } while (next !== undefined);
  }

  /** Creates the object; throws already-exists when the name is taken. */
  async create(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    const call = this.#call("create", "POST", this.#collection(this.#namespaceOf(object)));
    return this.#object({ ...call, query: writeQuery(options), body: JSON.stringify(object) }, options);
  }

  /** Replaces the object; with `resourceVersion` set only if it is unchanged. */
  async update(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    const call = this.#call("update", "PUT", this.#at(this.#keyOf(object), options.subresource));
    return this.#object({ ...call, query: writeQuery(options), body: JSON.stringify(object) }, options);
  }

  /** Patches the object. `resourceVersion` in the patch's metadata is a precondition. */
  async patch(key: ObjectKey, type: PatchType, patch: unknown, options: WriteOptions = {}): Promise<Stored<T>> {
    const call = this.#call("patch", "PATCH", this.#at(key, options.subresource));
    return this.#object(
      { ...call, query: writeQuery(options), body: JSON.stringify(patch), contentType: PATCH_MEDIA[type] },
      options,
    );
  }

  /**
   * Server-side apply: sets and owns the given fields, creates the object if needed, and releases fields that were
   * applied before and are no longer given. A conflict fault names the other managers and fields.
   */
  async apply(object: T, options: ApplyOptions): Promise<Stored<T>> {
    const call = this.#call("patch", "PATCH", this.#at(this.#keyOf(object), options.subresource));
    const query = { ...writeQuery(options), ...(options.force ? { force: true } : {}) };
    return this.#object(
      { ...call, query, body: JSON.stringify(object), contentType: "application/apply-patch+yaml" },
      options,
    );
  }

  /** Requests deletion. Resolves when the server has recorded it; finalizers may delay it. */
  async delete(key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const call = this.#call("delete", "DELETE", this.#at(key));
    await this.#requester.text({ ...call, accept: JSON_MEDIA, body: JSON.stringify(deleteBody(options)) }, options);
  }

  /** Requests deletion of all selected objects. */
  async deleteCollection(selection: Selection, options: DeleteOptions = {}): Promise<void> {
    const { namespace, ...rest } = selection;
    const call = this.#call("deletecollection", "DELETE", this.#collection(namespace));
    const body = JSON.stringify(deleteBody(options));
    await this.#requester.text({ ...call, accept: JSON_MEDIA, query: { ...rest }, body }, options);
  }

  /** Returns desired and actual replicas. */
  async getScale(key: ObjectKey, options: CallOptions = {}): Promise<Stored<Scale>> {
    return this.#requester.json({ ...this.#call("get", "GET", this.#at(key, "scale")), accept: JSON_MEDIA }, options);
  }

  /** Sets the desired replicas. */
  async setScale(key: ObjectKey, replicas: number, options: WriteOptions = {}): Promise<Stored<Scale>> {
    const call = { ...this.#call("patch", "PATCH", this.#at(key, "scale")), accept: JSON_MEDIA };
    const body = JSON.stringify({ spec: { replicas } });
    return this.#requester.json({ ...call, query: writeQuery(options), body, contentType: PATCH_MEDIA.merge }, options);
  }

  /** Returns the log of a container. */
  async logs(
    key: ObjectKey,
    options: CallOptions & {
      readonly container?: string;
      readonly tailLines?: number;
      readonly previous?: boolean;
    } = {},
  ): Promise<string> {
    const { container, tailLines, previous } = options;
    const call = this.#call("get", "GET", this.#at(key, "log"));
    return this.#requester.text({ ...call, accept: "*/*", query: { container, tailLines, previous } }, options);
  }

  /**
   * Streams changes from a version on, until the signal aborts or the server ends it. Most callers want an `Informer`.
   */
  async watch(
    query: Selection & {
      readonly resourceVersion?: string;
      readonly timeoutSeconds?: number;
      readonly sendInitialEvents?: boolean;
    },
    signal: AbortSignal,
  ): Promise<AsyncIterable<WatchEvent<Stored<T>>>> {
    const { namespace, sendInitialEvents, ...rest } = query;
    const call = this.#call("watch", "GET", this.#collection(namespace));
    const initial = sendInitialEvents ? { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } : {};
    const response = await this.#requester.stream(
      { ...call, query: { ...rest, ...initial, watch: true, allowWatchBookmarks: true } },
      signal,
    );
    return readEvents<T>(linesOf(response.chunks()), this.type);
  }

  /** Returns this kind as a watch source. */
  source(selection: Selection = {}): WatchSource<Stored<T>> {
    return {
      // The watcher retries and reports it; retries here would hide that.
      list: (query, signal) => this.#list({ ...selection, ...query }, { signal }, true),
      watch: (query, signal) => this.watch({ ...selection, ...query }, signal),
    };
  }

  #call(verb: string, method: ApiCall["method"], path: string, of: "object" | "list" = "object"): ApiCall {
    const accept = acceptOf(this.type, of);
    return { verb, subject: this.type.kind, method, path, ...(accept === undefined ? {} : { accept }) };
  }

  async #object(call: ApiCall, options: CallOptions): Promise<Stored<T>> {
    const object = await this.#requester.json<T | null>(call, options);
    if (typeof object?.metadata !== "object") throw unexpectedResponse(call, "object");
    return withTypeMeta<T>(this.type, object) as Stored<T>;
  }

  #collection(namespace: string | undefined): string {
    return pathOrFault({
      ...this.type,
      ...(this.type.namespaced && namespace !== undefined && namespace !== "" ? { namespace } : {}),
    });
  }

  #at({ namespace, name }: ObjectKey, subresource?: string): string {
    if (this.type.namespaced && namespace === "") {
      throw invalidArgument(`${this.type.kind} "${name}"`, [
        {
          path: "$.metadata.namespace",
          message: "is empty",
          fix: `${this.type.kind} is namespaced; set the namespace`,
        },
      ]);
    }
    return pathOrFault({
      ...this.type,
      ...(this.type.namespaced ? { namespace } : {}),
      name,
      ...(subresource === undefined ? {} : { subresource }),
    });
  }

  #keyOf(object: T): ObjectKey {
    return { namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" };
  }

  #namespaceOf(object: T): string | undefined {
    if (this.type.namespaced && !object.metadata.namespace) this.#at(this.#keyOf(object));
    return object.metadata.namespace;
  }
}

function unexpectedResponse({ verb, subject }: ApiCall, expected: "object" | "list"): Fault {
  return unavailable("API server", `the response to ${verb} ${subject} is not a Kubernetes ${expected}`);
}

function writeQuery({ fieldManager, dryRun, fieldValidation }: WriteOptions): Query {
  return { fieldManager, fieldValidation, ...(dryRun ? { dryRun: "All" } : {}) };
}

function deleteBody({ propagation, uid, resourceVersion, gracePeriodSeconds, dryRun }: DeleteOptions): object {
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(dryRun ? { dryRun: ["All"] } : {}),
  };
}

function pathOrFault(location: Parameters<typeof resourcePath>[0]): string {
  const path = resourcePath(location);
  if (path.ok) return path.value;
  const named = formatObjectKey({ namespace: location.namespace ?? "", name: location.name ?? "" });
  throw invalidArgument(named, path.error satisfies readonly Violation[]);
}
