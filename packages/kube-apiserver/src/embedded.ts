import type { Clock, Ids, Timers } from "@oaas/foundation";
import { createContainers, type Containers } from "./containers/containers.ts";
import { createAccessControl, ADMINISTRATOR } from "./access/access-control.ts";
import { ensureBootstrapRoles } from "./access/authorization/bootstrap-roles.ts";
import type { User } from "./access/authentication/user.ts";
import {
  garbageCollector,
  namespaceController,
  roleAggregator,
  workloadSimulation,
  type LoopProblem,
  type SimulationOptions,
  type WorkloadSimulation,
} from "./controllers/index.ts";
import type { ClusterObjects, ServerController } from "./controllers/cluster-objects.ts";
import { discoveryPages } from "./discovery/discovery-pages.ts";
import { builtInKinds } from "./kinds/built-in/built-in-kinds.ts";
import { METRICS_KINDS } from "./metrics-api/metrics-kinds.ts";
import { metricsPages } from "./metrics-api/metrics-pages.ts";
import { openApiPages } from "./openapi/openapi-pages.ts";
import { ApiServer } from "./server.ts";
import type { Journal } from "./store/journal.ts";

/** Options of a cluster in one process. */
export interface EmbeddedOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: Ids;
  /** Keeps objects beyond the process. */
  readonly journal?: Journal;
  readonly historyLimit?: number;
  /**
   * Users by token, with the permissions of their roles. Without it the server is open: every caller is the
   * administrator.
   */
  readonly users?: ReadonlyMap<string, User>;
  /**
   * Whether garbage collection, namespace deletion and role aggregation run, as in a controller manager. Default yes.
   */
  readonly collectsGarbage?: boolean;
  /** The CA bundle in PEM: every namespace has it as `kube-root-ca.crt`. Empty without TLS. */
  readonly rootCertificates?: string;
  /** Simulated nodes and workloads; none without it. */
  readonly simulation?: SimulationOptions;
  readonly onProblem?: (problem: LoopProblem) => void;
}

export interface EmbeddedServer {
  readonly server: ApiServer;
  /** Fault injection of the simulation, if there is one; available after `server.start()`. */
  readonly simulation: () => WorkloadSimulation | undefined;
}

/** A server with every built-in kind, discovery, schemas, and the requested controllers. Not started. */
export function embeddedServer(options: EmbeddedOptions): EmbeddedServer {
  const { timers, ids, journal, historyLimit, users, onProblem } = options;
  // Virtual time may have fractions of a millisecond; Kubernetes times do not.
  const clock: Clock = {
    now: () => Math.floor(options.clock.now()),
    monotonic: () => options.clock.monotonic(),
  };
  const access = createAccessControl({
    clock,
    ids,
    key: ids.uuid(),
    objects: () => server.objects,
    ...(users === undefined ? { withoutCredentials: ADMINISTRATOR } : { users }),
  });
  let simulation: WorkloadSimulation | undefined;
  let containers: Containers | undefined;
  const usage = options.simulation?.usage;
  const controllers = (objects: ClusterObjects): readonly ServerController[] => {
    const ports = { objects, clock, timers, ...(onProblem === undefined ? {} : { onProblem }) };
    if (options.simulation !== undefined) simulation = workloadSimulation(ports, options.simulation);
    return [
      ...(options.collectsGarbage === false
        ? []
        : [
            garbageCollector(ports),
            namespaceController(ports, { rootCertificates: options.rootCertificates ?? "" }),
            roleAggregator(ports),
          ]),
      ...(simulation === undefined ? [] : [simulation]),
      ...(containers === undefined ? [] : [containers.controller(objects)]),
    ];
  };
  const server: ApiServer = new ApiServer({
    clock,
    timers,
    ids,
    kinds: builtInKinds(),
    pages: (kinds) => [
      discoveryPages(kinds, usage === undefined ? [] : METRICS_KINDS),
      openApiPages(kinds),
      ...(usage === undefined ? [] : [metricsPages({ objects: () => server.objects, usage, clock })]),
    ],
    controllers,
    connect: (closing) =>
      (containers = createContainers(
        {
          clock,
          timers,
          closing,
          objects: () => server.objects,
          runtime: options.simulation?.runtime,
          requeuePod: (namespace, name) => simulation?.requeuePod(namespace, name),
        },
        options.simulation?.traffic,
      )),
    createVirtualResources: () => access.virtualResources,
    prepare: ensureBootstrapRoles,
    // An open server authorizes everything without a check.
    ...(users === undefined ? {} : { guard: access.guard, escalationGuard: access.escalationGuard }),
    ...(journal === undefined ? {} : { journal }),
    ...(historyLimit === undefined ? {} : { historyLimit }),
  });
  return { server, simulation: () => simulation };
}
