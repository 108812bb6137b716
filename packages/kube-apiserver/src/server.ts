import type { Clock, Ids, Timers } from "@oaas/foundation";
import type { Status } from "@oaas/kube-core";
import type { Api, ApiRequest, ApiResponse } from "./api.ts";
import type { ClusterObjects, ServerController } from "./controllers/cluster-objects.ts";
import { DefinitionController } from "./kinds/custom/definition-controller.ts";
import { withDefinitionRules } from "./kinds/custom/definition-rules.ts";
import type { Kind } from "./kinds/kind.ts";
import { KindRegistry } from "./kinds/kind-registry.ts";
import { statusResponse } from "./request/response/responses.ts";
import { serverPages } from "./request/routing/server-pages.ts";
import { badRequest, internalError } from "./request/response/status-errors.ts";
import {
  Router,
  type RequestGuard,
  type ConnectHandlers,
  type EscalationGuard,
  type PathHandler,
  type VirtualResources,
} from "./request/routing/router.ts";
import type { Journal } from "./store/journal.ts";
import { ObjectStore } from "./store/object-store.ts";
import { columnTables } from "./verbs/read/column-table.ts";
import { ServerObjects } from "./verbs/server-objects.ts";
import { Presenter, type TableRenderer } from "./verbs/read/presenter.ts";
import { ResourceEndpoint } from "./verbs/resource-endpoint.ts";
import type { VerbContext } from "./verbs/verb-context.ts";

/** Options of a server. Nothing starts before `start`. */
export interface ApiServerOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  /** The initial kinds; custom kinds come and go. */
  readonly kinds: readonly Kind[];
  /** Builds tables; by default from the columns of kinds. */
  readonly tables?: TableRenderer;
  /** Keeps objects beyond the process; in memory only without it. */
  readonly journal?: Journal;
  /** The number of changes per kind that watches can go back. */
  readonly historyLimit?: number;
  /** Authorization; without it everything is allowed. */
  readonly guard?: RequestGuard;
  /** Serves logs and proxies of pods; without it they do not exist. */
  readonly connect?: (closing: AbortSignal) => ConnectHandlers;
  /** Answers virtual resources: reviews, tokens. */
  readonly createVirtualResources?: (objects: ClusterObjects) => VirtualResources;
  /** Prevents privilege escalation; without it everything is allowed. */
  readonly escalationGuard?: EscalationGuard;
  /** Discovery, schemas and other non-resource endpoints; tried in order, before objects. */
  readonly pages?: (kinds: KindRegistry) => readonly PathHandler[];
  /** Creates the initial objects of a cluster besides namespaces. */
  readonly prepare?: (objects: ClusterObjects) => Promise<void>;
  /** Controllers, created when the server starts. */
  readonly controllers?: (objects: ClusterObjects) => readonly ServerController[];
}

/**
 * A Kubernetes API server without sockets.
 *
 * Guarantees: everything uses the given clock, timers and ids, so that the same requests give the same responses, byte
 * for byte. `close` ends watches and controllers; acknowledged writes are kept (with a journal).
 */
export class ApiServer implements Api {
  readonly objects: ClusterObjects;
  readonly kinds: KindRegistry;
  readonly store: ObjectStore;
  readonly #closing = new AbortController();
  readonly #router: Router;
  readonly #definitions: DefinitionController;
  readonly #prepare: ApiServerOptions["prepare"];
  readonly #makeControllers: (objects: ClusterObjects) => readonly ServerController[];
  #controllers: readonly ServerController[] = [];

  constructor(options: ApiServerOptions) {
    const { clock, timers, ids, journal, historyLimit, guard, pages, controllers } = options;
    this.store = new ObjectStore({
      ...(journal === undefined ? {} : { journal }),
      ...(historyLimit === undefined ? {} : { historyLimit }),
    });
    const context: VerbContext = { store: this.store, clock, timers, ids };
    this.kinds = new KindRegistry(withDefinitionRules(options.kinds));
    this.objects = new ServerObjects(context, this.kinds);
    this.#definitions = new DefinitionController(context, this.kinds, this.objects);
    this.#prepare = options.prepare;
    this.#makeControllers = controllers ?? ((): readonly ServerController[] => []);
    const endpoint = new ResourceEndpoint({
      context,
      objects: this.objects,
      presenter: new Presenter(options.tables ?? columnTables(clock)),
      closing: this.#closing.signal,
      ...(options.createVirtualResources === undefined
        ? {}
        : { virtualResources: options.createVirtualResources(this.objects) }),
      ...(options.escalationGuard === undefined ? {} : { escalationGuard: options.escalationGuard }),
      isServed: ({ kind, version }) => this.kinds.find(kind.group, version.name, kind.resource) !== undefined,
    });
    this.#router = new Router({
      kinds: this.kinds,
      endpoint,
      pages: [serverPages, ...(pages?.(this.kinds) ?? [])],
      ...(guard === undefined ? {} : { guard }),
      ...(options.connect === undefined ? {} : { connect: options.connect(this.#closing.signal) }),
    });
    // A watch of a removed kind must notice.
    this.kinds.onChange(() => this.store.wakeAll());
  }

  /** Loads the journal, creates initial objects, and starts the controllers. */
  async start(): Promise<void> {
    await this.store.load();
    await this.#definitions.start();
    await this.#makeNamespaces();
    await this.#prepare?.(this.objects);
    this.#controllers = this.#makeControllers(this.objects);
    for (const controller of this.#controllers) controller.start();
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    try {
      return await this.#router.handle(request);
    } catch (error) {
      // Excessive nesting is a client error.
      if (error instanceof RangeError) return statusResponse(badRequest("the body is nested too deep; flatten it"));
      // Every request gets a response; an unexpected exception becomes a 500.
      return statusResponse(createInternalError(error));
    }
  }

  /** Whether all controllers are idle. */
  isIdle(): boolean {
    return this.#definitions.isIdle() && this.#controllers.every((controller) => controller.isIdle());
  }

  async close(): Promise<void> {
    for (const controller of this.#controllers) controller.stop();
    this.#definitions.stop();
    this.#closing.abort();
  }

  async #makeNamespaces(): Promise<void> {
    const namespaces = { group: "", resource: "namespaces" };
    if (this.kinds.named(namespaces) === undefined) return;
    for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"]) {
      if (this.objects.get(namespaces, { name }) !== undefined) continue;
      const object = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
      await this.objects.create(namespaces, object, "kube-apiserver");
    }
  }
}

function createInternalError(error: unknown): Status {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    ...internalError(`Internal error occurred: ${reason}`),
    reason: "InternalError",
    details: { causes: [{ message: reason }] },
  };
}
