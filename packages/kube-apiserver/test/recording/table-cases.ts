import type { JsonObject } from "@oaas/kube-core";
import { MINIMAL } from "./minimal-objects.ts";

/** An object whose row is read: the minimal one with a merge patch, and a status written after creation. */
export interface TableCase {
  readonly of: string;
  readonly why: string;
  readonly with?: JsonObject;
  readonly status?: JsonObject;
}

const T = "2026-01-01T00:00:00Z";
const running = { running: { startedAt: T } };
const condition = (type: string, status = "True"): JsonObject => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: T,
});
const container = (more: JsonObject): JsonObject => ({
  name: "c",
  image: "i",
  imageID: "x",
  ready: false,
  restartCount: 0,
  ...more,
});
const ended = (exitCode: number, more: JsonObject = {}): JsonObject => ({
  terminated: { exitCode, startedAt: T, finishedAt: T, ...more },
});
const waiting = (reason: string): JsonObject => ({ waiting: { reason } });
const podStatus = (containerStatuses: JsonObject[], more: JsonObject = {}): JsonObject => ({
  phase: "Running",
  containerStatuses,
  ...more,
});

const init = (...names: string[]): JsonObject => ({
  spec: { initContainers: names.map((name) => ({ name, image: "i" })) },
});

/** Every case, in the order of the tables. */
export const TABLE_CASES: readonly TableCase[] = [
  ...Object.keys(MINIMAL).map((of) => ({ of, why: "the least" })),
  {
    of: "v1/pods",
    why: "running",
    status: podStatus([container({ ready: true, state: running })], {
      conditions: [condition("Ready")],
      podIPs: [{ ip: "10.1.1.1" }],
      podIP: "10.1.1.1",
    }),
  },
  {
    of: "v1/pods",
    why: "restarted",
    status: podStatus([container({ ready: true, restartCount: 3, state: running, lastState: ended(1) })]),
  },
  {
    of: "v1/pods",
    why: "crash loop",
    status: podStatus([
      container({ restartCount: 5, state: waiting("CrashLoopBackOff"), lastState: ended(1, { reason: "Error" }) }),
    ]),
  },
  {
    of: "v1/pods",
    why: "pull fails",
    status: { phase: "Pending", containerStatuses: [container({ state: waiting("ImagePullBackOff") })] },
  },
  {
    of: "v1/pods",
    why: "completed",
    status: { phase: "Succeeded", containerStatuses: [container({ state: ended(0, { reason: "Completed" }) })] },
  },
  {
    of: "v1/pods",
    why: "failed without reason",
    status: { phase: "Failed", containerStatuses: [container({ state: ended(3) })] },
  },
  {
    of: "v1/pods",
    why: "killed by a signal",
    status: { phase: "Failed", containerStatuses: [container({ state: ended(137, { signal: 9 }) })] },
  },
  { of: "v1/pods", why: "evicted", status: { phase: "Failed", reason: "Evicted" } },
  {
    of: "v1/pods",
    why: "initialising",
    with: init("a", "b"),
    status: {
      phase: "Pending",
      initContainerStatuses: [
        container({ name: "a", state: ended(0, { reason: "Completed" }) }),
        container({ name: "b", state: running }),
      ],
      containerStatuses: [container({ state: waiting("PodInitializing") })],
    },
  },
  {
    of: "v1/pods",
    why: "initialisation fails",
    with: init("a"),
    status: {
      phase: "Pending",
      initContainerStatuses: [
        container({ name: "a", restartCount: 2, state: ended(1, { reason: "Error" }), lastState: ended(1) }),
      ],
    },
  },
  {
    of: "v1/pods",
    why: "initialisation waits",
    with: init("a"),
    status: { phase: "Pending", initContainerStatuses: [container({ name: "a", state: waiting("ErrImagePull") })] },
  },
  {
    of: "v1/pods",
    why: "sidecar",
    with: { spec: { initContainers: [{ name: "a", image: "i", restartPolicy: "Always" }] } },
    status: {
      phase: "Running",
      initContainerStatuses: [container({ name: "a", started: true, ready: true, restartCount: 1, state: running })],
      containerStatuses: [container({ ready: true, state: running })],
    },
  },
  {
    of: "v1/pods",
    why: "two containers, one complete",
    with: {
      spec: {
        containers: [
          { name: "c", image: "i" },
          { name: "d", image: "i" },
        ],
      },
    },
    status: podStatus([
      container({ ready: true, state: running }),
      container({ name: "d", state: ended(0, { reason: "Completed" }) }),
    ]),
  },
  { of: "v1/pods", why: "gated", with: { spec: { schedulingGates: [{ name: "a.b/c" }] } } },
  {
    of: "v1/pods",
    why: "readiness gates",
    with: { spec: { readinessGates: [{ conditionType: "a.b/c" }] } },
    status: { phase: "Running", conditions: [condition("a.b/c")] },
  },
  {
    of: "apps/v1/deployments",
    why: "with pods",
    with: {
      spec: {
        replicas: 3,
        template: {
          spec: {
            containers: [
              { name: "c", image: "i" },
              { name: "d", image: "j:1" },
            ],
          },
        },
      },
    },
    status: { observedGeneration: 1, replicas: 3, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 1 },
  },
  {
    of: "apps/v1/deployments",
    why: "by an expression",
    with: {
      spec: {
        selector: {
          matchExpressions: [
            { key: "app", operator: "In", values: ["a", "b"] },
            { key: "x", operator: "DoesNotExist" },
          ],
        },
      },
    },
  },
  { of: "apps/v1/replicasets", why: "with pods", status: { replicas: 1, readyReplicas: 1, availableReplicas: 1 } },
  {
    of: "apps/v1/statefulsets",
    why: "with pods",
    with: { spec: { replicas: 2 } },
    status: { replicas: 2, readyReplicas: 1, observedGeneration: 1 },
  },
  {
    of: "apps/v1/daemonsets",
    why: "with pods",
    with: { spec: { template: { spec: { nodeSelector: { disk: "ssd" } } } } },
    status: {
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      numberReady: 2,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
      numberMisscheduled: 0,
    },
  },
  { of: "batch/v1/jobs", why: "running", status: { startTime: T, active: 1 } },
  {
    of: "batch/v1/jobs",
    why: "complete",
    status: {
      startTime: T,
      completionTime: "2026-01-01T00:01:40Z",
      succeeded: 1,
      conditions: [condition("SuccessCriteriaMet"), condition("Complete")],
    },
  },
  { of: "batch/v1/jobs", why: "in parallel", with: { spec: { parallelism: 3 } } },
  {
    of: "batch/v1/cronjobs",
    why: "suspended with a zone",
    with: { spec: { suspend: true, timeZone: "Europe/Berlin" } },
    status: { lastScheduleTime: T, active: [{ name: "x" }] },
  },
  { of: "v1/services", why: "headless", with: { spec: { clusterIP: "None", selector: { a: "b", c: "d" } } } },
  { of: "v1/services", why: "node port", with: { spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30080 }] } } },
  {
    of: "v1/services",
    why: "load balancer",
    with: { spec: { type: "LoadBalancer", ports: [{ port: 80, nodePort: 30081 }] } },
    status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }, { hostname: "a.b" }] } },
  },
  {
    of: "v1/services",
    why: "load balancer without address",
    with: { spec: { type: "LoadBalancer", ports: [{ port: 80, nodePort: 30082 }] } },
  },
  {
    of: "v1/services",
    why: "external name",
    with: { spec: { type: "ExternalName", externalName: "a.b", ports: null } },
  },
  { of: "v1/services", why: "external address", with: { spec: { externalIPs: ["1.2.3.4"] } } },
  {
    of: "v1/nodes",
    why: "ready",
    with: {
      metadata: { labels: { "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "edge" } },
      spec: { unschedulable: true },
    },
    status: {
      conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: T, lastTransitionTime: T }],
      addresses: [{ type: "InternalIP", address: "10.2.2.2" }],
      nodeInfo: {
        machineID: "",
        systemUUID: "",
        bootID: "",
        kernelVersion: "6.1",
        osImage: "Linux",
        containerRuntimeVersion: "containerd://2",
        kubeletVersion: "v1.36.3",
        kubeProxyVersion: "",
        operatingSystem: "linux",
        architecture: "amd64",
      },
    },
  },
  {
    of: "v1/nodes",
    why: "not ready",
    status: { conditions: [{ type: "Ready", status: "Unknown", lastHeartbeatTime: T, lastTransitionTime: T }] },
  },
  { of: "v1/configmaps", why: "with data", with: { data: { a: "b" }, binaryData: { c: "ZGF0YQ==" } } },
  { of: "v1/secrets", why: "with data", with: { data: { a: "ZGF0YQ==" }, type: "mine" } },
  {
    of: "v1/events",
    why: "whole",
    with: {
      reason: "R",
      message: " m ",
      type: "Warning",
      count: 2,
      firstTimestamp: T,
      lastTimestamp: T,
      source: { component: "c", host: "h" },
      involvedObject: { fieldPath: "spec.x" },
    },
  },
  {
    of: "v1/events",
    why: "series",
    with: {
      eventTime: "2026-01-01T00:00:00.000000Z",
      series: { count: 7, lastObservedTime: "2026-01-01T00:00:00.000000Z" },
      reportingComponent: "a.b/c",
      reportingInstance: "i",
      action: "A",
      reason: "R",
      type: "Normal",
    },
  },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "measured",
    status: {
      currentReplicas: 2,
      desiredReplicas: 3,
      currentMetrics: [
        { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 42, averageValue: "10m" } } },
      ],
    },
  },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "many metrics",
    with: {
      spec: {
        minReplicas: 2,
        metrics: [
          { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
          { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "5" } } },
          { type: "External", external: { metric: { name: "e" }, target: { type: "Value", value: "7" } } },
        ],
      },
    },
  },
  {
    of: "v1/persistentvolumeclaims",
    why: "bound",
    with: { spec: { volumeName: "pv", storageClassName: "fast" } },
    status: { phase: "Bound", capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOnce", "ReadOnlyMany"] },
  },
  {
    of: "v1/resourcequotas",
    why: "used",
    with: { spec: { hard: { pods: "5", "limits.cpu": "2" } } },
    status: { hard: { pods: "5", "limits.cpu": "2" }, used: { pods: "1", "limits.cpu": "500m" } },
  },
  {
    of: "policy/v1/poddisruptionbudgets",
    why: "by percentage",
    with: { spec: { minAvailable: null, maxUnavailable: "25%" } },
    status: { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
  },
  {
    of: "networking.k8s.io/v1/networkpolicies",
    why: "selecting",
    with: { spec: { podSelector: { matchLabels: { a: "b" } } } },
  },
  {
    of: "networking.k8s.io/v1/ingresses",
    why: "hosts",
    with: {
      spec: {
        ingressClassName: "nginx",
        tls: [{ hosts: ["a.b"] }],
        rules: ["a.b", "b.b", "c.b", "d.b"].map((host) => ({ host })),
      },
    },
    status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
  },
  {
    of: "networking.k8s.io/v1/ingressclasses",
    why: "the default",
    with: {
      metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
      spec: { parameters: { apiGroup: "a.b", kind: "K", name: "n" } },
    },
  },
  {
    of: "v1/endpoints",
    why: "many",
    with: { subsets: [{ addresses: ["1", "2", "3", "4"].map((n) => ({ ip: `10.1.1.${n}` })), ports: [{ port: 80 }] }] },
  },
  {
    of: "discovery.k8s.io/v1/endpointslices",
    why: "many",
    with: {
      endpoints: ["1", "2", "3", "4"].map((n) => ({ addresses: [`10.1.1.${n}`] })),
      ports: [{ port: 80 }, { name: "x" }],
    },
  },
  { of: "coordination.k8s.io/v1/leases", why: "held", with: { spec: { holderIdentity: "me" } } },
  {
    of: "storage.k8s.io/v1/storageclasses",
    why: "the default",
    with: {
      allowVolumeExpansion: true,
      metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    },
  },
  {
    of: "apps/v1/controllerrevisions",
    why: "of a set",
    with: {
      metadata: {
        ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "s", uid: "u", controller: true }],
      },
    },
  },
  {
    of: "rbac.authorization.k8s.io/v1/rolebindings",
    why: "many subjects",
    with: {
      subjects: [
        { kind: "User", name: "u" },
        { kind: "User", name: "v" },
        { kind: "Group", name: "g" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
    },
  },
];
