import { isFault, notFound, type Clock } from "@oaas/foundation";
import { gvkKey, parseApiVersion, type GroupVersionKind, type JsonObject, type KubeObject } from "@oaas/kube-core";
import type { CallOptions, Requester } from "./requester.ts";
import type { ResourceType } from "./resource-type.ts";

/** A kind that the server serves, with its verbs. */
export interface ServedResource extends GroupVersionKind {
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly subresources: readonly string[];
}

/** The server's version. */
export interface ServerVersion {
  readonly gitVersion: string;
  readonly major: string;
  readonly minor: string;
}

/** The part of an OpenAPI v3 document that is read. */
interface OpenApiDocument {
  readonly components?: {
    readonly schemas?: Readonly<Record<string, JsonObject & { readonly [KIND_KEYWORD]?: readonly { kind: string }[] }>>;
  };
}

interface AggregatedList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind?: { readonly kind?: string };
        readonly scope: string;
        readonly verbs?: readonly string[];
        readonly shortNames?: readonly string[];
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

interface ResourceList {
  readonly groupVersion: string;
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
    readonly shortNames?: readonly string[];
  }[];
}

const KIND_KEYWORD = "x-kubernetes-group-version-kind";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/** Minimum interval between lookups of a missing kind: a missing CRD must not cause a request storm. */
const LOOK_AGAIN_MS = 5_000;

/**
 * The kinds that the server serves, cached until proven wrong.
 *
 * *Guarantees*: read once and cached; a missing kind is looked up again at most every few seconds; concurrent callers
 * share one read; a client that gets 404 for a path invalidates the cache. *Caveats*: a removed kind is found until it
 * is used.
 */
export class Discovery {
  readonly #requester: Requester;
  readonly #clock: Clock;
  #known: Promise<ReadonlyMap<string, ServedResource>> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(requester: Requester, clock: Clock) {
    this.#requester = requester;
    this.#clock = clock;
  }

  /** The version of the server. */
  version(options: CallOptions = {}): Promise<ServerVersion> {
    return this.#requester.json({ verb: "get", subject: "version", method: "GET", path: "/version" }, options);
  }

  /** The OpenAPI schemas of the kinds of a named group, by kind. Not cached. */
  async schemas(apiVersion: string, options: CallOptions = {}): Promise<ReadonlyMap<string, JsonObject>> {
    const path = `/openapi/v3/apis/${apiVersion}`;
    const document = await this.#requester.json<OpenApiDocument>(
      { verb: "get", subject: "openapi", method: "GET", path },
      options,
    );
    const schemas = Object.values(document.components?.schemas ?? {});
    return new Map(
      schemas.flatMap((schema) => (schema[KIND_KEYWORD] ?? []).map(({ kind }) => [kind, schema] as const)),
    );
  }

  /** Every served kind. */
  async all(): Promise<readonly ServedResource[]> {
    return [...(await this.#read()).values()];
  }

  /** Returns the served kind, or undefined. */
  async find(gvk: GroupVersionKind): Promise<ServedResource | undefined> {
    const read = this.#read();
    const found = (await read).get(gvkKey(gvk));
    if (found) return found;
    if (this.#known === read) {
      if (this.#clock.monotonic() - this.#readAt < LOOK_AGAIN_MS) return undefined;
      this.invalidate();
    }
    return (await this.#read()).get(gvkKey(gvk));
  }

  /** Returns the kind for use with a client; a not-found fault when the server does not serve it. */
  async resourceType<T extends KubeObject>(gvk: GroupVersionKind): Promise<ResourceType<T>> {
    const found = await this.find(gvk);
    if (!found) throw notFound("kind", gvkKey(gvk));
    return found;
  }

  /** Clears the cache; the next call queries the server. */
  invalidate(): void {
    this.#known = undefined;
  }

  #read(): Promise<ReadonlyMap<string, ServedResource>> {
    if (this.#known) return this.#known;
    this.#readAt = this.#clock.monotonic();
    const reading = Promise.all([this.#readRoot("/api"), this.#readRoot("/apis")]).then(
      (roots) => new Map(roots.flat().map((resource) => [gvkKey(resource), resource])),
    );
    reading.catch(() => {
      if (this.#known === reading) this.#known = undefined;
    });
    this.#known = reading;
    return reading;
  }

  async #readRoot(path: string): Promise<ServedResource[]> {
    const call = { verb: "get", subject: "discovery", method: "GET", path, accept: AGGREGATED } as const;
    const root = await this.#requester.json<AggregatedList & LegacyRoot>(call);
    return root.items ? fromAggregated(root) : this.#readLegacy(path, root);
  }

  /** Servers without aggregated discovery return a list of groups; each version is one more request. */
  async #readLegacy(path: string, root: LegacyRoot): Promise<ServedResource[]> {
    const versions =
      root.versions?.map((version) => `${path}/${version}`) ??
      (root.groups ?? []).flatMap((group) => group.versions.map(({ groupVersion }) => `${path}/${groupVersion}`));
    const lists = await Promise.all(versions.map((each) => this.#readVersion(each)));
    return lists.flat();
  }

  async #readVersion(path: string): Promise<ServedResource[]> {
    try {
      return fromLegacy(
        await this.#requester.json<ResourceList>({ verb: "get", subject: "discovery", method: "GET", path }),
      );
    } catch (thrown) {
      // One broken aggregated API must not hide all others.
      if (isFault(thrown, "unavailable") || isFault(thrown, "not-found")) return [];
      throw thrown;
    }
  }
}

interface LegacyRoot {
  readonly versions?: readonly string[];
  readonly groups?: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

function fromAggregated(list: AggregatedList): ServedResource[] {
  return (list.items ?? []).flatMap((group) =>
    (group.versions ?? []).flatMap(({ version, resources }) =>
      (resources ?? []).map((resource) => ({
        group: group.metadata?.name ?? "",
        version,
        kind: resource.responseKind?.kind ?? "",
        resource: resource.resource,
        namespaced: resource.scope === "Namespaced",
        verbs: resource.verbs ?? [],
        shortNames: resource.shortNames ?? [],
        subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
      })),
    ),
  );
}

function fromLegacy({ groupVersion, resources = [] }: ResourceList): ServedResource[] {
  const parsed = parseApiVersion(groupVersion);
  if (!parsed.ok) return [];
  return resources
    .filter(({ name }) => !name.includes("/"))
    .map(({ name, kind, namespaced, verbs, shortNames }) => ({
      ...parsed.value,
      kind,
      resource: name,
      namespaced,
      verbs,
      shortNames: shortNames ?? [],
      subresources: resources
        .filter((other) => other.name.startsWith(`${name}/`))
        .map((other) => other.name.slice(name.length + 1)),
    }));
}
