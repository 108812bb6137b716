import { err, ok, type Clock, type Result } from "@oaas/foundation";
import type { Status, Stored } from "@oaas/kube-core";
import type { ApiRequest, ApiResponse } from "../../api.ts";
import type { ClusterView } from "../../controllers/objects/cluster-view.ts";
import { PODS } from "../../controllers/objects/resources.ts";
import type { Pod } from "../../controllers/objects/typed.ts";
import { statusResponse } from "../../request/response/responses.ts";
import { badRequest, notFound } from "../../request/response/status-errors.ts";
import type { ContainerLog } from "./container-log.ts";
import { parseLogOptions, type LogOptions } from "./log-options.ts";
import { previousRunOf, statusOf, type PodLogs } from "./pod-logs.ts";

export interface LogRequest {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly namespace: string;
  readonly name: string;
}

export interface LogPorts {
  readonly view: () => ClusterView;
  readonly clock: Clock;
  readonly logs: PodLogs;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
}

/** `pods/{name}/log`: the answers of the API server, and behind it of a kubelet. */
export function serveLog(ports: LogPorts, { request, query, namespace, name }: LogRequest): ApiResponse {
  const options = parseLogOptions(query, name, ports.clock.now());
  if (!options.ok) return statusResponse(options.error);
  const pod = ports.view().get<Pod>(PODS, namespace, name);
  if (!pod) return statusResponse(notFound(PODS, name));
  const container = chooseContainer(pod, options.value.container);
  if (!container.ok) return statusResponse(container.error);
  if (pod.spec?.nodeName === undefined) return { status: 204, headers: {}, body: "" };
  const log = findLog(ports.logs, pod, container.value, options.value);
  if (!log.ok) return statusResponse(log.error);
  const signal = AbortSignal.any([request.signal, ports.closing]);
  return {
    status: 200,
    headers: { "content-type": "text/plain", "cache-control": "no-cache, private" },
    body: log.value?.read(options.value, signal) ?? "",
  };
}

function chooseContainer(pod: Stored<Pod>, wanted: string): Result<string, Status> {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const names = [...initContainers, ...containers].map(({ name }) => name);
  const { name } = pod.metadata;
  if (wanted !== "") {
    return names.includes(wanted) ? ok(wanted) : err(badRequest(`container ${wanted} is not valid for pod ${name}`));
  }
  const [only] = names;
  if (only !== undefined && names.length === 1) return ok(only);
  return err(badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(" ")}]`));
}

/** The run that a kubelet would read, or why there is none. */
function findLog(
  logs: PodLogs,
  pod: Stored<Pod>,
  container: string,
  { previous }: LogOptions,
): Result<ContainerLog | undefined, Status> {
  const status = statusOf(pod, container);
  const where = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`;
  if (previous) {
    if (status?.lastState.terminated) return ok(logs.find(pod, container, previousRunOf(status)));
    return err(badRequest(`previous terminated ${where} not found`));
  }
  const { running, terminated, waiting } = status?.state ?? {};
  if (status && (running ?? terminated ?? status.lastState.terminated)) {
    return ok(logs.find(pod, container, status.restartCount));
  }
  const reason = waiting?.reason ?? "ContainerCreating";
  const explained = PULL_FAILURES[reason] ?? reason;
  return err(badRequest(`${where} is waiting to start: ${explained}`));
}

const PULL_FAILURES: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: "trying and failing to pull image",
};
