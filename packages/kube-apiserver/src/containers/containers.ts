import type { Clock, Timers } from "@oaas/foundation";
import type { Stored } from "@oaas/kube-core";
import type { ClusterObjects, ServerController } from "../controllers/cluster-objects.ts";
import { clusterView } from "../controllers/objects/cluster-view.ts";
import type { Pod } from "../controllers/objects/typed.ts";
import type { ConnectHandlers } from "../request/routing/router.ts";
import type { ContainerRuntime } from "./container-runtime.ts";
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
  /** Runs some containers as programs. */
  readonly runtime?: ContainerRuntime | undefined;
  /** Lets the kubelet look at a pod again. */
  readonly requeuePod: (namespace: string, name: string) => void;
}

/** The containers of simulated pods: they answer requests and have output. */
export interface Containers extends ConnectHandlers {
  /** Collects the output. */
  readonly controller: (objects: ClusterObjects) => ServerController;
}

export function createContainers(ports: ContainerPorts, traffic: TrafficOptions = {}): Containers {
  const { clock, timers, closing } = ports;
  const view = () => clusterView(ports.objects());
  const { runtime } = ports;
  const isRun = (pod: Stored<Pod>, name: string): boolean => {
    const container = pod.spec?.containers?.find((one) => one.name === name);
    return container !== undefined && runtime?.stateOf(pod, container) !== undefined;
  };
  const logs = new PodLogs(clock, isRun);
  const serve = async (request: ContainerRequest): Promise<ContainerResponse> =>
    runtime && isRun(request.pod, request.container) ? runtime.serve(request) : echoRequest(request, traffic.describe);
  const proxy = new ProxyEndpoint({
    view,
    timers,
    serve,
    onServed: (request, status) => {
      if (!isRun(request.pod, request.container)) {
        logs.append(request.pod, request.container, `${request.method} ${request.target} ${status}`);
      }
      traffic.onServed?.(request, status);
    },
  });
  return {
    serveLog: (request) => serveLog({ view, clock, logs, closing }, request),
    proxy: ({ resource, name, ...request }) =>
      proxy.handle({ ...request, id: name, resource: resource === "pods" ? "pods" : "services" }),
    controller: (objects) => createContainerController(logs, objects, ports),
  };
}

/** Follows the pods: first their logs, so that a program that starts at once finds its log. */
function createContainerController(
  logs: PodLogs,
  objects: ClusterObjects,
  { runtime, requeuePod }: ContainerPorts,
): ServerController {
  let stop: (() => void) | undefined;
  return {
    name: "containers",
    start: () => {
      stop = logs.follow(objects);
      runtime?.start({
        objects,
        changed: ({ metadata }) => requeuePod(metadata.namespace ?? "", metadata.name),
        append: (pod, container, run, text) => logs.append(pod, container, text, run),
      });
    },
    isIdle: () => true,
    stop: () => {
      runtime?.stop();
      stop?.();
    },
  };
}
