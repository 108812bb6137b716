import type { Clock, Timers } from "@oaas/foundation";
import type { ClusterObjects, ServerController } from "../controllers/cluster-objects.ts";
import { clusterView } from "../controllers/objects/cluster-view.ts";
import type { ConnectHandlers } from "../request/routing/router.ts";
import { echoRequest, type ContainerRequest, type ContainerResponse, type DescribePod } from "./container-server.ts";
import { serveLog } from "./logs/log-endpoint.ts";
import { PodLogs } from "./logs/pod-logs.ts";
import { ProxyEndpoint } from "./proxy/proxy-endpoint.ts";

/** How simulated containers answer requests. */
export interface TrafficOptions {
  /** Facts that the echo adds: by default none. */
  readonly describe?: DescribePod;
  /** Called after each response of a container. */
  readonly onServed?: (request: ContainerRequest, status: number) => void;
}

export interface ContainerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called on the first request, because the server does not exist yet. */
  readonly objects: () => ClusterObjects;
  readonly closing: AbortSignal;
}

/** The containers of simulated pods: they answer requests and have output. */
export interface Containers extends ConnectHandlers {
  /** Collects the output. */
  readonly controller: (objects: ClusterObjects) => ServerController;
}

export function createContainers(ports: ContainerPorts, traffic: TrafficOptions = {}): Containers {
  const { clock, timers, closing } = ports;
  const view = () => clusterView(ports.objects());
  const logs = new PodLogs(clock);
  const serve = async (request: ContainerRequest): Promise<ContainerResponse> => echoRequest(request, traffic.describe);
  const proxy = new ProxyEndpoint({
    view,
    timers,
    serve,
    onServed: (request, status) => {
      logs.append(request.pod, request.container, `${request.method} ${request.target} ${status}`);
      traffic.onServed?.(request, status);
    },
  });
  return {
    serveLog: (request) => serveLog({ view, clock, logs, closing }, request),
    proxy: ({ resource, name, ...request }) =>
      proxy.handle({ ...request, id: name, resource: resource === "pods" ? "pods" : "services" }),
    controller: (objects) => createLogController(logs, objects),
  };
}

function createLogController(logs: PodLogs, objects: ClusterObjects): ServerController {
  let stop: (() => void) | undefined;
  return {
    name: "container-logs",
    start: () => {
      stop = logs.follow(objects);
    },
    isIdle: () => true,
    stop: () => stop?.(),
  };
}
