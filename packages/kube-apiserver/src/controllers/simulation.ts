import { notFound } from "@oaas/foundation";
import type { KubeObject, Status } from "@oaas/kube-core";
import type { ServerController } from "./cluster-objects.ts";
import { ANNOTATIONS, DEFAULT_FAILURES, failureOf, failuresOf, type FailureRule } from "./failures/failure.ts";
import { forbidden } from "./failures/quota.ts";
import { cronJobController } from "./cron/cron-job-controller.ts";
import { knativeControllers } from "./knative/knative-controllers.ts";
import { ControlLoop, type LoopPorts } from "./loop/control-loop.ts";
import type { Controller } from "./loop/controller.ts";
import { serviceController } from "./network/service-controller.ts";
import { evictionController } from "./nodes/eviction.ts";
import { nodeController } from "./nodes/node-controller.ts";
import { registrationController, desiredNodes, type SimulatedNode } from "./nodes/simulated-nodes.ts";
import { asJson, objectName, typed } from "./objects/cluster-view.ts";
import { AUTOSCALERS, NODES, objectKey, PODS, resourceKey, type Resource } from "./objects/resources.ts";
import type { Pod } from "./objects/typed.ts";
import { kubeletController } from "./pods/kubelet-controller.ts";
import { autoscalerController } from "./scaling/autoscaler-controller.ts";
import { budgetController } from "./scaling/budget.ts";
import { quotaController } from "./scaling/quota-controller.ts";
import { schedulerController } from "./scheduler/scheduler-controller.ts";
import type { ContainerRuntime } from "../containers/container-runtime.ts";
import type { TrafficOptions } from "../containers/containers.ts";
import type { UsageSource } from "./usage/pod-usage.ts";
import { claimController, volumeController } from "./volumes/claims.ts";
import { deploymentController, replicaSetController } from "./workloads/replica-controllers.ts";
import { daemonSetController, jobController, statefulSetController } from "./workloads/set-controllers.ts";

export interface SimulationOptions {
  /** The number of nodes, or a list. Default 1. More can be added at any time: every Node object is simulated. */
  readonly nodes?: number | readonly SimulatedNode[];
  /** Time from assignment to Ready. Default 100. */
  readonly startDelayMs?: number;
  /** Time a pod takes to stop, at most its grace period. Default 0. */
  readonly stopDelayMs?: number;
  /** How long pods of Jobs run. Default 1,000. */
  readonly jobDurationMs?: number;
  /** After how long a silent node is lost. Default 50,000, as in Kubernetes. */
  readonly nodeSilenceMs?: number;
  /** Whether to emit Events for pulled images, started and stopped containers. Default yes; KWOK does not. */
  readonly containerEvents?: boolean;
  /** Initial failure rules. Default: images tagged `missing` and `crashing`, as with the real components. */
  readonly failures?: readonly FailureRule[];
  /** Whether Knative Services are simulated where their kinds are installed. Default yes. */
  readonly knative?: boolean;
  /**
   * The usage of pods: the cluster then has a metrics API, and autoscalers act on it. Annotations of pods
   * (`kwok.x-k8s.io/usage-cpu`, `usage-memory`) take precedence. Default: none, as without a metrics server.
   */
  readonly usage?: UsageSource;
  /** How containers answer requests of the proxies. Default: with an echo of the request. */
  readonly traffic?: TrafficOptions;
  /** Runs some containers as programs instead. Default: none. */
  readonly runtime?: ContainerRuntime;
  /** The domain of Knative routes. Default svc.cluster.local, as in Knative. */
  readonly knativeDomain?: string;
}

/** The simulated workloads, with methods for fault injection. */
export interface WorkloadSimulation extends ServerController {
  /** Adds a failure rule, also for existing pods; call the returned function to remove it. */
  fail(rule: FailureRule): () => void;
  /** Marks the node's kubelet as unreachable or reachable: the annotation of the same meaning. */
  loseNode(name: string): Promise<void>;
  findNode(name: string): Promise<void>;
  /** Lets the kubelet look at a pod again. */
  requeuePod(namespace: string, name: string): void;
  /** Sets an autoscaler's metric per pod; undefined removes it. The annotation of the same meaning. */
  setMetric(namespace: string, autoscaler: string, value: number | undefined): Promise<void>;
}

/**
 * The visible behaviour of the controller manager, the scheduler, kubelets, a volume provisioner and Knative. Idle when
 * nothing happens: no heartbeats, no resyncs.
 */
export function workloadSimulation(ports: LoopPorts, options: SimulationOptions = {}): WorkloadSimulation {
  const nodes = desiredNodes(options.nodes ?? 1);
  let rules: readonly FailureRule[] = options.failures ?? DEFAULT_FAILURES;
  const loop = new ControlLoop(
    "workload-simulation",
    controllers(options, nodes, () => rules),
    ports,
    {
      admit: (kind, object) => checkAdmission(kind, typed(object), rules),
    },
  );

  const annotate = async (
    kind: Resource,
    namespace: string,
    name: string,
    key: string,
    value?: string,
  ): Promise<void> => {
    const object = ports.objects.get(kind, objectName(namespace, name));
    if (!object) throw notFound(kind.kind, objectKey(namespace, name).replace(/^\//, ""));
    const { [key]: _, ...others } = typed<KubeObject>(object).metadata.annotations ?? {};
    const { resourceVersion: __, ...metadata } = typed<KubeObject>(object).metadata;
    const annotations = value === undefined ? others : { ...others, [key]: value };
    await ports.objects.update(kind, asJson({ ...object, metadata: { ...metadata, annotations } }), "simulation");
  };

  return {
    name: loop.name,
    start() {
      loop.start();
      for (const { name } of nodes) loop.enqueue("registration", objectKey("", name));
    },
    isIdle: () => loop.isIdle(),
    stop: () => loop.stop(),
    fail(rule) {
      rules = [rule, ...rules];
      loop.enqueueAll();
      return () => {
        rules = rules.filter((one) => one !== rule);
        loop.enqueueAll();
      };
    },
    requeuePod: (namespace, name) => loop.enqueue("kubelet", objectKey(namespace, name)),
    loseNode: (name) => annotate(NODES, "", name, ANNOTATIONS.lost, "true"),
    findNode: (name) => annotate(NODES, "", name, ANNOTATIONS.lost),
    setMetric: (namespace, autoscaler, value) =>
      annotate(AUTOSCALERS, namespace, autoscaler, ANNOTATIONS.metric, value === undefined ? undefined : String(value)),
  };
}

function controllers(
  options: SimulationOptions,
  nodes: readonly SimulatedNode[],
  rules: () => readonly FailureRule[],
): readonly Controller[] {
  return [
    registrationController(nodes),
    nodeController(options.nodeSilenceMs === undefined ? {} : { silenceMs: options.nodeSilenceMs }),
    ...(options.knative === false ? [] : knativeControllers(options.knativeDomain ?? "svc.cluster.local")),
    deploymentController(),
    statefulSetController(),
    daemonSetController(),
    cronJobController(),
    jobController(),
    replicaSetController(),
    claimController(),
    volumeController(),
    schedulerController(rules),
    kubeletController({
      startDelayMs: options.startDelayMs ?? 100,
      stopDelayMs: options.stopDelayMs ?? 0,
      jobDurationMs: options.jobDurationMs ?? 1000,
      recordsContainerEvents: options.containerEvents ?? true,
      rules,
      runtime: options.runtime,
    }),
    evictionController(),
    serviceController(),
    budgetController(),
    autoscalerController(options.usage),
    quotaController(),
  ];
}

/** An injected exhausted quota; the server enforces real ones. */
function checkAdmission(kind: string, object: KubeObject, rules: readonly FailureRule[]): Status | undefined {
  if (kind !== resourceKey(PODS) || !failureOf(failuresOf(object as Pod, rules), "quota")) return undefined;
  return forbidden(PODS, object, "exceeded quota: simulated, requested: pods=1, used: pods=0, limited: pods=0");
}
