import type { JsonObject } from "@oaas/kube-core";
import { MINIMAL } from "./minimal-objects.ts";

/**
 * A request about one kind: the minimal object with a merge patch on it, or an update from one such object to another.
 */
export interface KindCase {
  readonly of: string;
  readonly why: string;
  readonly with?: JsonObject;
  /** For an update: a merge patch that turns the live object into the sent one. */
  readonly next?: JsonObject;
}

const A63 = "a".repeat(63);

/** The containers of a pod, or of a template. */
const containers = (...list: JsonObject[]): JsonObject => ({ spec: { containers: list } });
const container = (more: JsonObject): JsonObject => containers({ name: "c", image: "i", ...more });
const inTemplate = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });

const MINIMALS: readonly KindCase[] = Object.keys(MINIMAL).map((of) => ({ of, why: "the least" }));

const METADATA: readonly KindCase[] = [
  { of: "v1/configmaps", why: "name in capitals", with: { metadata: { name: "Abc" } } },
  { of: "v1/configmaps", why: "name with an underscore", with: { metadata: { name: "a_b" } } },
  { of: "v1/configmaps", why: "name of 254 characters", with: { metadata: { name: "a".repeat(254) } } },
  { of: "v1/configmaps", why: "label value with a space", with: { metadata: { labels: { a: "b c" } } } },
  { of: "v1/configmaps", why: "label value of 64 characters", with: { metadata: { labels: { a: `${A63}a` } } } },
  { of: "v1/configmaps", why: "label key with a space", with: { metadata: { labels: { "a b": "c" } } } },
  { of: "v1/configmaps", why: "label key with a bad prefix", with: { metadata: { labels: { "A_/b": "c" } } } },
  { of: "v1/configmaps", why: "label key with two slashes", with: { metadata: { labels: { "a/b/c": "c" } } } },
  { of: "v1/configmaps", why: "label key without a name", with: { metadata: { labels: { "a/": "c" } } } },
  {
    of: "v1/configmaps",
    why: "annotation key in capitals is fine",
    with: { metadata: { annotations: { "A.b/C": "c" } } },
  },
  { of: "v1/configmaps", why: "annotation key with a space", with: { metadata: { annotations: { "a b": "c" } } } },
  { of: "v1/configmaps", why: "finalizer without a domain", with: { metadata: { finalizers: ["foo"] } } },
  { of: "v1/configmaps", why: "finalizer with a space", with: { metadata: { finalizers: ["a/b c"] } } },
  {
    of: "v1/configmaps",
    why: "owner without uid",
    with: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p", uid: "" }] } },
  },
  {
    of: "v1/configmaps",
    why: "owner without version",
    with: { metadata: { ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "u" }] } },
  },
  {
    of: "v1/configmaps",
    why: "two controllers",
    with: {
      metadata: {
        ownerReferences: [
          { apiVersion: "v1", kind: "Pod", name: "p", uid: "u", controller: true },
          { apiVersion: "v1", kind: "Pod", name: "q", uid: "v", controller: true },
        ],
      },
    },
  },
  {
    of: "v1/configmaps",
    why: "owned by an event",
    with: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "p", uid: "u" }] } },
  },
  { of: "v1/configmaps", why: "negative generation", with: { metadata: { generation: -1 } } },
  { of: "v1/namespaces", why: "name with a dot", with: { metadata: { name: "a.b" } } },
  { of: "v1/services", why: "name begins with a digit", with: { metadata: { name: "1a" } } },
  { of: "v1/services", why: "name of 64 characters", with: { metadata: { name: `${A63}a` } } },
  { of: "v1/serviceaccounts", why: "name with an underscore", with: { metadata: { name: "a_b" } } },
  {
    of: "rbac.authorization.k8s.io/v1/clusterroles",
    why: "name with a colon is fine",
    with: { metadata: { name: "a:B" } },
  },
  { of: "rbac.authorization.k8s.io/v1/clusterroles", why: "name with a slash", with: { metadata: { name: "a/b" } } },
  { of: "rbac.authorization.k8s.io/v1/clusterroles", why: "name is a dot", with: { metadata: { name: ".." } } },
  { of: "apps/v1/statefulsets", why: "name with a dot", with: { metadata: { name: "a.b" } } },
  { of: "batch/v1/cronjobs", why: "name of 53 characters", with: { metadata: { name: "a".repeat(53) } } },
  { of: "v1/configmaps", why: "labels change", next: { metadata: { labels: { a: "b" } } } },
];

const PODS: readonly KindCase[] = [
  { of: "v1/pods", why: "no containers", with: { spec: { containers: null } } },
  { of: "v1/pods", why: "container without name", with: containers({ image: "i" }) },
  { of: "v1/pods", why: "container name in capitals", with: containers({ name: "C", image: "i" }) },
  { of: "v1/pods", why: "container name of 64 characters", with: containers({ name: `${A63}a`, image: "i" }) },
  { of: "v1/pods", why: "container without image", with: containers({ name: "c" }) },
  { of: "v1/pods", why: "image with spaces", with: containers({ name: "c", image: " i " }) },
  { of: "v1/pods", why: "image with a tag", with: containers({ name: "c", image: "i:1" }) },
  { of: "v1/pods", why: "image latest", with: containers({ name: "c", image: "host:5000/i:latest" }) },
  { of: "v1/pods", why: "image with port and no tag", with: containers({ name: "c", image: "host:5000/i" }) },
  { of: "v1/pods", why: "image with a digest", with: containers({ name: "c", image: `i@sha256:${"a".repeat(64)}` }) },
  {
    of: "v1/pods",
    why: "same container name twice",
    with: containers({ name: "c", image: "i" }, { name: "c", image: "i" }),
  },
  {
    of: "v1/pods",
    why: "init container of the same name",
    with: { spec: { initContainers: [{ name: "c", image: "i" }] } },
  },
  {
    of: "v1/pods",
    why: "init container",
    with: { spec: { initContainers: [{ name: "d", image: "i:1", resources: { limits: { cpu: "1" } } }] } },
  },
  {
    of: "v1/pods",
    why: "sidecar",
    with: { spec: { initContainers: [{ name: "d", image: "i:1", restartPolicy: "Always" }] } },
  },
  { of: "v1/pods", why: "port too big", with: container({ ports: [{ containerPort: 70000 }] }) },
  { of: "v1/pods", why: "port missing", with: container({ ports: [{ name: "x" }] }) },
  {
    of: "v1/pods",
    why: "port name too long",
    with: container({ ports: [{ name: "abcdefghijklmnopq", containerPort: 1 }] }),
  },
  { of: "v1/pods", why: "port name in capitals", with: container({ ports: [{ name: "Ab", containerPort: 1 }] }) },
  { of: "v1/pods", why: "port name without letter", with: container({ ports: [{ name: "12", containerPort: 1 }] }) },
  {
    of: "v1/pods",
    why: "port name twice",
    with: container({
      ports: [
        { name: "a", containerPort: 1 },
        { name: "a", containerPort: 2 },
      ],
    }),
  },
  { of: "v1/pods", why: "port protocol unknown", with: container({ ports: [{ containerPort: 1, protocol: "tcp" }] }) },
  {
    of: "v1/pods",
    why: "host port twice",
    with: container({
      ports: [
        { containerPort: 1, hostPort: 5 },
        { containerPort: 2, hostPort: 5 },
      ],
    }),
  },
  {
    of: "v1/pods",
    why: "host network takes the ports",
    with: { spec: { hostNetwork: true, containers: [{ name: "c", image: "i", ports: [{ containerPort: 5 }] }] } },
  },
  { of: "v1/pods", why: "env name empty", with: container({ env: [{ name: "" }] }) },
  { of: "v1/pods", why: "env name with a control character", with: container({ env: [{ name: "a=b" }] }) },
  { of: "v1/pods", why: "env name with a space is fine now", with: container({ env: [{ name: "a b", value: "1" }] }) },
  {
    of: "v1/pods",
    why: "env value and source",
    with: container({ env: [{ name: "A", value: "1", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
  },
  { of: "v1/pods", why: "env source empty", with: container({ env: [{ name: "A", valueFrom: {} }] }) },
  {
    of: "v1/pods",
    why: "env from a field",
    with: container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }),
  },
  {
    of: "v1/pods",
    why: "env from an unknown field",
    with: container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.foo" } } }] }),
  },
  {
    of: "v1/pods",
    why: "env from a resource",
    with: container({ env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }] }),
  },
  {
    of: "v1/pods",
    why: "env from a secret without key",
    with: container({ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s" } } }] }),
  },
  { of: "v1/pods", why: "envFrom nothing", with: container({ envFrom: [{}] }) },
  { of: "v1/pods", why: "envFrom a config map", with: container({ envFrom: [{ configMapRef: { name: "m" } }] }) },
  { of: "v1/pods", why: "pull policy unknown", with: container({ imagePullPolicy: "Sometimes" }) },
  { of: "v1/pods", why: "termination policy unknown", with: container({ terminationMessagePolicy: "x" }) },
  {
    of: "v1/pods",
    why: "resource request above the limit",
    with: container({ resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } }),
  },
  { of: "v1/pods", why: "negative resource", with: container({ resources: { limits: { cpu: "-1" } } }) },
  { of: "v1/pods", why: "resource of no standard name", with: container({ resources: { limits: { foo: "1" } } }) },
  {
    of: "v1/pods",
    why: "resource finer than a thousandth",
    with: container({ resources: { requests: { cpu: "0.0001" } } }),
  },
  { of: "v1/pods", why: "guaranteed", with: container({ resources: { limits: { cpu: "1", memory: "1Gi" } } }) },
  {
    of: "v1/pods",
    why: "extended resource only as a request",
    with: container({ resources: { requests: { "example.com/gpu": "1" } } }),
  },
  { of: "v1/pods", why: "probe without handler", with: container({ livenessProbe: {} }) },
  {
    of: "v1/pods",
    why: "probe with two handlers",
    with: container({ livenessProbe: { tcpSocket: { port: 1 }, exec: { command: ["a"] } } }),
  },
  { of: "v1/pods", why: "probe by http", with: container({ readinessProbe: { httpGet: { port: 80 } } }) },
  { of: "v1/pods", why: "probe by http without port", with: container({ readinessProbe: { httpGet: { path: "/" } } }) },
  { of: "v1/pods", why: "probe port too big", with: container({ readinessProbe: { tcpSocket: { port: 70000 } } }) },
  { of: "v1/pods", why: "probe by an empty command", with: container({ readinessProbe: { exec: {} } }) },
  { of: "v1/pods", why: "probe by grpc", with: container({ readinessProbe: { grpc: { port: 5 } } }) },
  {
    of: "v1/pods",
    why: "probe with a negative delay",
    with: container({ readinessProbe: { tcpSocket: { port: 1 }, initialDelaySeconds: -1 } }),
  },
  {
    of: "v1/pods",
    why: "liveness needs one success",
    with: container({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
  },
  { of: "v1/pods", why: "lifecycle without handler", with: container({ lifecycle: { preStop: {} } }) },
  { of: "v1/pods", why: "restart policy unknown", with: { spec: { restartPolicy: "Sometimes" } } },
  { of: "v1/pods", why: "dns policy unknown", with: { spec: { dnsPolicy: "x" } } },
  { of: "v1/pods", why: "dns policy None without config", with: { spec: { dnsPolicy: "None" } } },
  { of: "v1/pods", why: "negative grace period", with: { spec: { terminationGracePeriodSeconds: -1 } } },
  { of: "v1/pods", why: "deadline of zero", with: { spec: { activeDeadlineSeconds: 0 } } },
  { of: "v1/pods", why: "node name in capitals", with: { spec: { nodeName: "A" } } },
  { of: "v1/pods", why: "node selector with a bad value", with: { spec: { nodeSelector: { a: "b c" } } } },
  { of: "v1/pods", why: "service account in capitals", with: { spec: { serviceAccountName: "A_" } } },
  { of: "v1/pods", why: "service account", with: { spec: { serviceAccountName: "robot" } } },
  { of: "v1/pods", why: "deprecated name of the service account", with: { spec: { serviceAccount: "robot" } } },
  { of: "v1/pods", why: "hostname with a dot", with: { spec: { hostname: "a.b" } } },
  {
    of: "v1/pods",
    why: "toleration with a bad operator",
    with: { spec: { tolerations: [{ key: "a", operator: "Like" }] } },
  },
  { of: "v1/pods", why: "toleration of everything", with: { spec: { tolerations: [{ operator: "Exists" }] } } },
  { of: "v1/pods", why: "toleration without key", with: { spec: { tolerations: [{ operator: "Equal" }] } } },
  {
    of: "v1/pods",
    why: "toleration Exists with a value",
    with: { spec: { tolerations: [{ key: "a", operator: "Exists", value: "b" }] } },
  },
  {
    of: "v1/pods",
    why: "toleration seconds of another effect",
    with: { spec: { tolerations: [{ key: "a", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 5 }] } },
  },
  { of: "v1/pods", why: "volume without name", with: { spec: { volumes: [{ emptyDir: {} }] } } },
  { of: "v1/pods", why: "volume without source is empty", with: { spec: { volumes: [{ name: "v" }] } } },
  { of: "v1/pods", why: "volume twice", with: { spec: { volumes: [{ name: "v" }, { name: "v" }] } } },
  {
    of: "v1/pods",
    why: "volume with two sources",
    with: { spec: { volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "/" } }] } },
  },
  {
    of: "v1/pods",
    why: "volume of a config map",
    with: { spec: { volumes: [{ name: "v", configMap: { name: "m", items: [{ key: "k", path: "p" }] } }] } },
  },
  {
    of: "v1/pods",
    why: "volume of a config map without name",
    with: { spec: { volumes: [{ name: "v", configMap: {} }] } },
  },
  {
    of: "v1/pods",
    why: "volume of a secret",
    with: { spec: { volumes: [{ name: "v", secret: { secretName: "m" } }] } },
  },
  {
    of: "v1/pods",
    why: "volume of a host path",
    with: { spec: { volumes: [{ name: "v", hostPath: { path: "/" } }] } },
  },
  {
    of: "v1/pods",
    why: "volume of the downward api",
    with: {
      spec: {
        volumes: [{ name: "v", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.labels" } }] } }],
      },
    },
  },
  {
    of: "v1/pods",
    why: "volume of several",
    with: {
      spec: {
        volumes: [
          { name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }, { configMap: { name: "m" } }] } },
        ],
      },
    },
  },
  {
    of: "v1/pods",
    why: "volume of a claim",
    with: { spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "m" } }] } },
  },
  {
    of: "v1/pods",
    why: "volume of a claim without name",
    with: { spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "" } }] } },
  },
  {
    of: "v1/pods",
    why: "volume of a new claim",
    with: {
      spec: {
        volumes: [
          {
            name: "v",
            ephemeral: {
              volumeClaimTemplate: {
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
              },
            },
          },
        ],
      },
    },
  },
  {
    of: "v1/pods",
    why: "mount of a missing volume",
    with: container({ volumeMounts: [{ name: "v", mountPath: "/v" }] }),
  },
  {
    of: "v1/pods",
    why: "mount without path",
    with: {
      spec: { volumes: [{ name: "v" }], containers: [{ name: "c", image: "i", volumeMounts: [{ name: "v" }] }] },
    },
  },
  {
    of: "v1/pods",
    why: "mount path twice",
    with: {
      spec: {
        volumes: [{ name: "v" }],
        containers: [
          {
            name: "c",
            image: "i",
            volumeMounts: [
              { name: "v", mountPath: "/a" },
              { name: "v", mountPath: "/a" },
            ],
          },
        ],
      },
    },
  },
  {
    of: "v1/pods",
    why: "mount path twice in colon",
    with: {
      spec: {
        volumes: [{ name: "v" }],
        containers: [{ name: "c", image: "i", volumeMounts: [{ name: "v", mountPath: "a:b" }] }],
      },
    },
  },
  { of: "v1/pods", why: "pull secret without name", with: { spec: { imagePullSecrets: [{}] } } },
  {
    of: "v1/pods",
    why: "privileged without escalation",
    with: container({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
  },
  { of: "v1/pods", why: "user below zero", with: { spec: { securityContext: { runAsUser: -1 } } } },
  {
    of: "v1/pods",
    why: "spread without skew",
    with: { spec: { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "x" }] } },
  },
  {
    of: "v1/pods",
    why: "spread",
    with: {
      spec: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }] },
    },
  },
  {
    of: "v1/pods",
    why: "affinity with a bad operator",
    with: {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Like" }] }],
            },
          },
        },
      },
    },
  },
  {
    of: "v1/pods",
    why: "affinity weight",
    with: {
      spec: {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: "" } }],
          },
        },
      },
    },
  },
  { of: "v1/pods", why: "gate", with: { spec: { schedulingGates: [{ name: "a.b/c" }] } } },
  { of: "v1/pods", why: "missing priority class", with: { spec: { priorityClassName: "nope" } } },
  { of: "v1/pods", why: "priority class of the system", with: { spec: { priorityClassName: "system-node-critical" } } },
  { of: "v1/pods", why: "status is ignored", with: { status: { phase: "Running", podIP: "1.1.1.1" } } },
  { of: "v1/pods", why: "image may change", next: containers({ name: "c", image: "j" }) },
  { of: "v1/pods", why: "command may not change", next: containers({ name: "c", image: "i", command: ["x"] }) },
  {
    of: "v1/pods",
    why: "containers may not be added",
    next: containers({ name: "c", image: "i" }, { name: "d", image: "i" }),
  },
  { of: "v1/pods", why: "labels may change", next: { metadata: { labels: { a: "b" } } } },
  { of: "v1/pods", why: "node may not change", next: { spec: { nodeName: "n" } } },
  { of: "v1/pods", why: "deadline may be added", next: { spec: { activeDeadlineSeconds: 5 } } },
];

const TEMPLATE = { metadata: { labels: { app: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };

const WORKLOADS: readonly KindCase[] = [
  ...["apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets", "apps/v1/daemonsets"].flatMap(
    (of): KindCase[] => [
      { of, why: "no selector", with: { spec: { selector: null } } },
      { of, why: "empty selector", with: { spec: { selector: { matchLabels: null } } } },
      { of, why: "selector does not match the template", with: { spec: { template: TEMPLATE } } },
      {
        of,
        why: "selector by a bad expression",
        with: { spec: { selector: { matchExpressions: [{ key: "a", operator: "In" }] } } },
      },
      {
        of,
        why: "selector by an unknown operator",
        with: { spec: { selector: { matchExpressions: [{ key: "a", operator: "Like", values: ["x"] }] } } },
      },
      { of, why: "selector with a bad value", with: { spec: { selector: { matchLabels: { app: "a b" } } } } },
      {
        of,
        why: "selector does not change",
        next: { spec: { selector: { matchLabels: { x: "y" } }, template: { metadata: { labels: { x: "y" } } } } },
      },
      { of, why: "no template", with: { spec: { template: null } } },
      { of, why: "template does not restart", with: inTemplate({ restartPolicy: "Never" }) },
      { of, why: "template has a deadline", with: inTemplate({ activeDeadlineSeconds: 5 }) },
      { of, why: "container without name in the template", with: inTemplate({ containers: [{ image: "i" }] }) },
      { of, why: "template label with a space", with: { spec: { template: { metadata: { labels: { b: "c d" } } } } } },
      { of, why: "seconds below zero", with: { spec: { minReadySeconds: -1 } } },
      { of, why: "history below zero", with: { spec: { revisionHistoryLimit: -1 } } },
      { of, why: "the template changes", next: inTemplate({ containers: [{ name: "c", image: "j" }] }) },
      { of, why: "status is ignored", next: { status: { replicas: 5, numberReady: 4 } } },
      { of, why: "an annotation is added", next: { metadata: { annotations: { a: "b" } } } },
    ],
  ),
  ...["apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets"].flatMap((of): KindCase[] => [
    { of, why: "replicas below zero", with: { spec: { replicas: -1 } } },
    { of, why: "replicas zero", with: { spec: { replicas: 0 } } },
    { of, why: "replicas change", next: { spec: { replicas: 3 } } },
  ]),
  { of: "apps/v1/deployments", why: "unknown strategy", with: { spec: { strategy: { type: "Fast" } } } },
  { of: "apps/v1/deployments", why: "recreate", with: { spec: { strategy: { type: "Recreate" } } } },
  {
    of: "apps/v1/deployments",
    why: "recreate with a rolling update",
    with: { spec: { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } } },
  },
  {
    of: "apps/v1/deployments",
    why: "neither surge nor unavailable",
    with: { spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
  },
  {
    of: "apps/v1/deployments",
    why: "more than 100 % unavailable",
    with: { spec: { strategy: { rollingUpdate: { maxUnavailable: "110%" } } } },
  },
  {
    of: "apps/v1/deployments",
    why: "no percentage",
    with: { spec: { strategy: { rollingUpdate: { maxSurge: "many" } } } },
  },
  {
    of: "apps/v1/deployments",
    why: "negative surge",
    with: { spec: { strategy: { rollingUpdate: { maxSurge: -1 } } } },
  },
  {
    of: "apps/v1/deployments",
    why: "deadline not above the seconds",
    with: { spec: { progressDeadlineSeconds: 5, minReadySeconds: 5 } },
  },
  { of: "apps/v1/statefulsets", why: "unknown pod management", with: { spec: { podManagementPolicy: "Fast" } } },
  { of: "apps/v1/statefulsets", why: "on delete", with: { spec: { updateStrategy: { type: "OnDelete" } } } },
  { of: "apps/v1/statefulsets", why: "unknown strategy", with: { spec: { updateStrategy: { type: "Fast" } } } },
  {
    of: "apps/v1/statefulsets",
    why: "negative partition",
    with: { spec: { updateStrategy: { rollingUpdate: { partition: -1 } } } },
  },
  {
    of: "apps/v1/statefulsets",
    why: "claims",
    with: {
      spec: {
        volumeClaimTemplates: [
          {
            metadata: { name: "v" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    },
  },
  { of: "apps/v1/statefulsets", why: "service name does not change", next: { spec: { serviceName: "t" } } },
  {
    of: "apps/v1/statefulsets",
    why: "pod management does not change",
    next: { spec: { podManagementPolicy: "Parallel" } },
  },
  { of: "apps/v1/daemonsets", why: "on delete", with: { spec: { updateStrategy: { type: "OnDelete" } } } },
  {
    of: "apps/v1/daemonsets",
    why: "both none",
    with: { spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } } },
  },
  { of: "apps/v1/daemonsets", why: "unknown strategy", with: { spec: { updateStrategy: { type: "Fast" } } } },
  { of: "apps/v1/controllerrevisions", why: "negative revision", with: { revision: -1 } },
  { of: "apps/v1/controllerrevisions", why: "data does not change", next: { data: { a: 2 } } },
  { of: "v1/replicationcontrollers", why: "selector from the template", with: { spec: { selector: null } } },
  { of: "v1/replicationcontrollers", why: "no template", with: { spec: { template: null } } },
  { of: "batch/v1/jobs", why: "restarts always", with: inTemplate({ restartPolicy: "Always" }) },
  { of: "batch/v1/jobs", why: "restart policy missing", with: inTemplate({ restartPolicy: null }) },
  { of: "batch/v1/jobs", why: "own selector", with: { spec: { selector: { matchLabels: { a: "b" } } } } },
  {
    of: "batch/v1/jobs",
    why: "manual selector",
    with: {
      spec: {
        manualSelector: true,
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } } },
      },
    },
  },
  { of: "batch/v1/jobs", why: "negative parallelism", with: { spec: { parallelism: -1 } } },
  { of: "batch/v1/jobs", why: "negative completions", with: { spec: { completions: -1 } } },
  { of: "batch/v1/jobs", why: "negative backoff", with: { spec: { backoffLimit: -1 } } },
  { of: "batch/v1/jobs", why: "only parallelism", with: { spec: { parallelism: 2 } } },
  { of: "batch/v1/jobs", why: "only completions", with: { spec: { completions: 2 } } },
  { of: "batch/v1/jobs", why: "indexed", with: { spec: { completions: 2, completionMode: "Indexed" } } },
  {
    of: "batch/v1/jobs",
    why: "indexed without completions",
    with: { spec: { parallelism: 2, completionMode: "Indexed" } },
  },
  { of: "batch/v1/jobs", why: "negative ttl", with: { spec: { ttlSecondsAfterFinished: -1 } } },
  {
    of: "batch/v1/jobs",
    why: "labels of the template",
    with: { spec: { template: { metadata: { labels: { x: "y" } } } } },
  },
  {
    of: "batch/v1/jobs",
    why: "template does not change",
    next: inTemplate({ containers: [{ name: "c", image: "j" }] }),
  },
  { of: "batch/v1/jobs", why: "completions do not change", next: { spec: { completions: 3 } } },
  { of: "batch/v1/jobs", why: "parallelism changes", next: { spec: { parallelism: 3 } } },
  { of: "batch/v1/jobs", why: "suspended", next: { spec: { suspend: true } } },
  { of: "batch/v1/cronjobs", why: "no schedule", with: { spec: { schedule: "" } } },
  { of: "batch/v1/cronjobs", why: "bad schedule", with: { spec: { schedule: "every day" } } },
  { of: "batch/v1/cronjobs", why: "schedule by name", with: { spec: { schedule: "@hourly" } } },
  { of: "batch/v1/cronjobs", why: "schedule out of range", with: { spec: { schedule: "61 * * * *" } } },
  { of: "batch/v1/cronjobs", why: "unknown policy", with: { spec: { concurrencyPolicy: "x" } } },
  { of: "batch/v1/cronjobs", why: "unknown zone", with: { spec: { timeZone: "Mars/Olympus" } } },
  { of: "batch/v1/cronjobs", why: "zone in the schedule", with: { spec: { schedule: "TZ=UTC 0 * * * *" } } },
  { of: "batch/v1/cronjobs", why: "negative history", with: { spec: { successfulJobsHistoryLimit: -1 } } },
  { of: "batch/v1/cronjobs", why: "schedule changes", next: { spec: { schedule: "0 * * * *" } } },
];

const SERVICES: readonly KindCase[] = [
  { of: "v1/services", why: "no ports", with: { spec: { ports: null } } },
  { of: "v1/services", why: "port of zero", with: { spec: { ports: [{ port: 0 }] } } },
  { of: "v1/services", why: "port too big", with: { spec: { ports: [{ port: 70000 }] } } },
  { of: "v1/services", why: "two ports without names", with: { spec: { ports: [{ port: 80 }, { port: 81 }] } } },
  {
    of: "v1/services",
    why: "port name twice",
    with: {
      spec: {
        ports: [
          { port: 80, name: "a" },
          { port: 81, name: "a" },
        ],
      },
    },
  },
  {
    of: "v1/services",
    why: "port twice",
    with: {
      spec: {
        ports: [
          { port: 80, name: "a" },
          { port: 80, name: "b" },
        ],
      },
    },
  },
  { of: "v1/services", why: "port name in capitals", with: { spec: { ports: [{ port: 80, name: "Ab" }] } } },
  { of: "v1/services", why: "unknown protocol", with: { spec: { ports: [{ port: 80, protocol: "tcp" }] } } },
  { of: "v1/services", why: "target port by name", with: { spec: { ports: [{ port: 80, targetPort: "http" }] } } },
  {
    of: "v1/services",
    why: "target port by a bad name",
    with: { spec: { ports: [{ port: 80, targetPort: "Http_" }] } },
  },
  { of: "v1/services", why: "target port too big", with: { spec: { ports: [{ port: 80, targetPort: 70000 }] } } },
  { of: "v1/services", why: "unknown type", with: { spec: { type: "Foo" } } },
  { of: "v1/services", why: "headless", with: { spec: { clusterIP: "None" } } },
  { of: "v1/services", why: "headless with selector", with: { spec: { clusterIP: "None", selector: { a: "b" } } } },
  { of: "v1/services", why: "headless without ports", with: { spec: { clusterIP: "None", ports: null } } },
  { of: "v1/services", why: "no address", with: { spec: { clusterIP: "foo" } } },
  { of: "v1/services", why: "address of another range", with: { spec: { clusterIP: "1.2.3.4" } } },
  { of: "v1/services", why: "node port", with: { spec: { type: "NodePort" } } },
  {
    of: "v1/services",
    why: "node port given",
    with: { spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30001 }] } },
  },
  {
    of: "v1/services",
    why: "node port out of range",
    with: { spec: { type: "NodePort", ports: [{ port: 80, nodePort: 5 }] } },
  },
  {
    of: "v1/services",
    why: "node port of a cluster address",
    with: { spec: { ports: [{ port: 80, nodePort: 30001 }] } },
  },
  { of: "v1/services", why: "load balancer", with: { spec: { type: "LoadBalancer" } } },
  {
    of: "v1/services",
    why: "external name",
    with: { spec: { type: "ExternalName", externalName: "a.b", ports: null } },
  },
  { of: "v1/services", why: "external name missing", with: { spec: { type: "ExternalName", ports: null } } },
  { of: "v1/services", why: "affinity", with: { spec: { sessionAffinity: "ClientIP" } } },
  { of: "v1/services", why: "unknown affinity", with: { spec: { sessionAffinity: "x" } } },
  { of: "v1/services", why: "selector with a bad value", with: { spec: { selector: { a: "b c" } } } },
  {
    of: "v1/services",
    why: "external policy of a cluster address",
    with: { spec: { externalTrafficPolicy: "Local" } },
  },
  {
    of: "v1/services",
    why: "local traffic only",
    with: { spec: { type: "LoadBalancer", externalTrafficPolicy: "Local" } },
  },
  { of: "v1/services", why: "two families", with: { spec: { ipFamilyPolicy: "PreferDualStack" } } },
  { of: "v1/services", why: "external address", with: { spec: { externalIPs: ["1.2.3.4", "x"] } } },
  { of: "v1/services", why: "ports change", next: { spec: { ports: [{ port: 81 }] } } },
  { of: "v1/services", why: "address does not change", next: { spec: { clusterIP: "10.0.0.200" } } },
  { of: "v1/services", why: "address may be left out", next: { spec: { clusterIP: null, clusterIPs: null } } },
  { of: "v1/services", why: "becomes a node port", next: { spec: { type: "NodePort" } } },
  {
    of: "v1/services",
    why: "becomes an external name",
    next: { spec: { type: "ExternalName", externalName: "a.b", clusterIP: null, clusterIPs: null, ports: null } },
  },
  {
    of: "v1/services",
    why: "is no longer a node port",
    with: { spec: { type: "NodePort" } },
    next: { spec: { type: "ClusterIP" } },
  },
];

const STORED: readonly KindCase[] = [
  { of: "v1/configmaps", why: "data", with: { data: { a: "b" }, binaryData: { c: "ZGF0YQ==" } } },
  { of: "v1/configmaps", why: "same key twice", with: { data: { a: "b" }, binaryData: { a: "ZGF0YQ==" } } },
  { of: "v1/configmaps", why: "bad key", with: { data: { "a b": "c" } } },
  { of: "v1/configmaps", why: "key is dots", with: { data: { "..": "c" } } },
  {
    of: "v1/configmaps",
    why: "immutable data",
    with: { immutable: true, data: { a: "b" } },
    next: { data: { a: "c" } },
  },
  { of: "v1/configmaps", why: "immutable stays immutable", with: { immutable: true }, next: { immutable: false } },
  { of: "v1/secrets", why: "texts", with: { stringData: { a: "text" }, data: { b: "ZGF0YQ==" } } },
  { of: "v1/secrets", why: "bad key", with: { data: { "a b": "ZGF0YQ==" } } },
  { of: "v1/secrets", why: "tls without keys", with: { type: "kubernetes.io/tls" } },
  { of: "v1/secrets", why: "tls", with: { type: "kubernetes.io/tls", stringData: { "tls.crt": "c", "tls.key": "k" } } },
  { of: "v1/secrets", why: "docker config missing", with: { type: "kubernetes.io/dockerconfigjson" } },
  {
    of: "v1/secrets",
    why: "docker config is not JSON",
    with: { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "x" } },
  },
  { of: "v1/secrets", why: "basic auth without fields", with: { type: "kubernetes.io/basic-auth" } },
  { of: "v1/secrets", why: "ssh auth without key", with: { type: "kubernetes.io/ssh-auth" } },
  { of: "v1/secrets", why: "token without account", with: { type: "kubernetes.io/service-account-token" } },
  { of: "v1/secrets", why: "type does not change", next: { type: "other" } },
  {
    of: "v1/secrets",
    why: "immutable data",
    with: { immutable: true, data: { a: "ZGF0YQ==" } },
    next: { data: { a: "YQ==" } },
  },
  { of: "v1/secrets", why: "immutable stays immutable", with: { immutable: true }, next: { immutable: false } },
  { of: "v1/secrets", why: "type may be left out", with: { type: "other" }, next: { type: null } },
  { of: "v1/persistentvolumeclaims", why: "no modes", with: { spec: { accessModes: null } } },
  { of: "v1/persistentvolumeclaims", why: "unknown mode", with: { spec: { accessModes: ["x"] } } },
  { of: "v1/persistentvolumeclaims", why: "no storage", with: { spec: { resources: null } } },
  {
    of: "v1/persistentvolumeclaims",
    why: "no storage request",
    with: { spec: { resources: { requests: { storage: "0" } } } },
  },
  { of: "v1/persistentvolumeclaims", why: "class in capitals", with: { spec: { storageClassName: "A_" } } },
  { of: "v1/persistentvolumeclaims", why: "does not change", next: { spec: { accessModes: ["ReadWriteMany"] } } },
  {
    of: "v1/persistentvolumeclaims",
    why: "does not shrink",
    next: { spec: { resources: { requests: { storage: "1Mi" } } } },
  },
  { of: "v1/persistentvolumes", why: "no capacity", with: { spec: { capacity: null } } },
  { of: "v1/persistentvolumes", why: "no source", with: { spec: { hostPath: null } } },
  { of: "v1/persistentvolumes", why: "unknown policy", with: { spec: { persistentVolumeReclaimPolicy: "x" } } },
  { of: "v1/persistentvolumes", why: "source does not change", next: { spec: { hostPath: { path: "/other" } } } },
  { of: "v1/resourcequotas", why: "unknown resource", with: { spec: { hard: { foo: "1" } } } },
  { of: "v1/resourcequotas", why: "negative", with: { spec: { hard: { pods: "-1" } } } },
  { of: "v1/resourcequotas", why: "half a pod", with: { spec: { hard: { pods: "0.5" } } } },
  {
    of: "v1/resourcequotas",
    why: "many",
    with: { spec: { hard: { "requests.cpu": "1", "limits.memory": "1Gi", "count/deployments.apps": "5" } } },
  },
  {
    of: "v1/resourcequotas",
    why: "scopes do not fit",
    with: { spec: { scopes: ["BestEffort"], hard: { "requests.cpu": "1" } } },
  },
  {
    of: "v1/limitranges",
    why: "min above max",
    with: { spec: { limits: [{ type: "Container", max: { cpu: "1" }, min: { cpu: "2" } }] } },
  },
  {
    of: "v1/limitranges",
    why: "default above max",
    with: { spec: { limits: [{ type: "Container", max: { cpu: "1" }, default: { cpu: "2" } }] } },
  },
  {
    of: "v1/limitranges",
    why: "no default for pods",
    with: { spec: { limits: [{ type: "Pod", default: { cpu: "2" } }] } },
  },
  { of: "v1/limitranges", why: "type twice", with: { spec: { limits: [{ type: "Pod" }, { type: "Pod" }] } } },
  {
    of: "v1/limitranges",
    why: "ratio",
    with: {
      spec: {
        limits: [{ type: "Container", min: { cpu: "1" }, max: { cpu: "2" }, maxLimitRequestRatio: { cpu: "0.5" } }],
      },
    },
  },
  { of: "v1/nodes", why: "capacity", with: { status: { capacity: { cpu: "4", memory: "8Gi", pods: "110" } } } },
  { of: "v1/nodes", why: "taint without effect", with: { spec: { taints: [{ key: "a" }] } } },
  {
    of: "v1/nodes",
    why: "taint twice",
    with: {
      spec: {
        taints: [
          { key: "a", effect: "NoSchedule" },
          { key: "a", effect: "NoSchedule" },
        ],
      },
    },
  },
  { of: "v1/nodes", why: "unschedulable", next: { spec: { unschedulable: true } } },
  {
    of: "v1/nodes",
    why: "provider does not change",
    with: { spec: { providerID: "a" } },
    next: { spec: { providerID: "b" } },
  },
  { of: "v1/namespaces", why: "labels", with: { metadata: { labels: { a: "b" } } } },
  { of: "v1/namespaces", why: "own finalizer", with: { spec: { finalizers: ["kubernetes", "a.b/c"] } } },
  { of: "v1/namespaces", why: "finalizers are ignored", next: { spec: { finalizers: ["a.b/c"] } } },
  {
    of: "v1/serviceaccounts",
    why: "with secrets",
    with: { secrets: [{ name: "s" }], imagePullSecrets: [{ name: "p" }], automountServiceAccountToken: false },
  },
  { of: "v1/events", why: "without object", with: { involvedObject: null } },
  { of: "v1/events", why: "of another namespace", with: { involvedObject: { namespace: "other" } } },
  {
    of: "v1/events",
    why: "whole",
    with: {
      reason: "R",
      message: "m",
      type: "Warning",
      count: 2,
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:01Z",
      source: { component: "c" },
    },
  },
  { of: "events.k8s.io/v1/events", why: "without time", with: { eventTime: null } },
  { of: "events.k8s.io/v1/events", why: "without controller", with: { reportingController: "" } },
  { of: "events.k8s.io/v1/events", why: "unknown type", with: { type: "Bad" } },
  { of: "events.k8s.io/v1/events", why: "with a note", with: { note: "said", deprecatedCount: 5 } },
  {
    of: "v1/endpoints",
    why: "with an address",
    with: { subsets: [{ addresses: [{ ip: "10.1.1.1" }], ports: [{ port: 80 }] }] },
  },
  { of: "v1/endpoints", why: "without addresses", with: { subsets: [{ ports: [{ port: 80 }] }] } },
  {
    of: "discovery.k8s.io/v1/endpointslices",
    why: "whole",
    with: { endpoints: [{ addresses: ["10.1.1.1"] }], ports: [{ port: 80 }] },
  },
  { of: "discovery.k8s.io/v1/endpointslices", why: "unknown type", with: { addressType: "x" } },
  { of: "discovery.k8s.io/v1/endpointslices", why: "no type", with: { addressType: null } },
  { of: "discovery.k8s.io/v1/endpointslices", why: "no address", with: { endpoints: [{ addresses: ["x"] }] } },
  { of: "discovery.k8s.io/v1/endpointslices", why: "no addresses", with: { endpoints: [{ addresses: [] }] } },
  { of: "discovery.k8s.io/v1/endpointslices", why: "type does not change", next: { addressType: "IPv6" } },
  {
    of: "coordination.k8s.io/v1/leases",
    why: "held",
    with: { spec: { holderIdentity: "me", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000001Z" } },
  },
  { of: "coordination.k8s.io/v1/leases", why: "duration of zero", with: { spec: { leaseDurationSeconds: 0 } } },
  { of: "coordination.k8s.io/v1/leases", why: "negative transitions", with: { spec: { leaseTransitions: -1 } } },
  {
    of: "coordination.k8s.io/v1/leases",
    why: "time without millionths",
    with: { spec: { renewTime: "2026-01-01T00:00:00Z" } },
  },
  { of: "scheduling.k8s.io/v1/priorityclasses", why: "too high", with: { value: 1000000001 } },
  { of: "scheduling.k8s.io/v1/priorityclasses", why: "value does not change", next: { value: 6 } },
  { of: "scheduling.k8s.io/v1/priorityclasses", why: "unknown preemption", with: { preemptionPolicy: "x" } },
  { of: "storage.k8s.io/v1/storageclasses", why: "no provisioner", with: { provisioner: "" } },
  { of: "storage.k8s.io/v1/storageclasses", why: "unknown mode", with: { volumeBindingMode: "x" } },
  { of: "storage.k8s.io/v1/storageclasses", why: "provisioner does not change", next: { provisioner: "b.c/d" } },
  { of: "storage.k8s.io/v1/storageclasses", why: "parameters do not change", next: { parameters: { a: "b" } } },
];

const POLICIES: readonly KindCase[] = [
  { of: "autoscaling/v2/horizontalpodautoscalers", why: "no maximum", with: { spec: { maxReplicas: 0 } } },
  { of: "autoscaling/v2/horizontalpodautoscalers", why: "minimum above maximum", with: { spec: { minReplicas: 5 } } },
  { of: "autoscaling/v2/horizontalpodautoscalers", why: "minimum of zero", with: { spec: { minReplicas: 0 } } },
  { of: "autoscaling/v2/horizontalpodautoscalers", why: "no target", with: { spec: { scaleTargetRef: null } } },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "metric without source",
    with: { spec: { metrics: [{ type: "Resource" }] } },
  },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "metric without target",
    with: { spec: { metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } }] } },
  },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "metric of unknown type",
    with: { spec: { metrics: [{ type: "Foo" }] } },
  },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "metric by value",
    with: {
      spec: {
        metrics: [
          { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
        ],
      },
    },
  },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "behavior",
    with: { spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } } },
  },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "behavior with a bad policy",
    with: {
      spec: { behavior: { scaleUp: { policies: [{ type: "x", value: 0, periodSeconds: 0 }], selectPolicy: "y" } } },
    },
  },
  {
    of: "autoscaling/v2/horizontalpodautoscalers",
    why: "status is ignored",
    next: { status: { desiredReplicas: 3 } },
  },
  { of: "autoscaling/v2/horizontalpodautoscalers", why: "maximum changes", next: { spec: { maxReplicas: 4 } } },
  {
    of: "autoscaling/v1/horizontalpodautoscalers",
    why: "by cpu",
    with: { spec: { targetCPUUtilizationPercentage: 50 } },
  },
  { of: "autoscaling/v1/horizontalpodautoscalers", why: "minimum above maximum", with: { spec: { minReplicas: 5 } } },
  { of: "policy/v1/poddisruptionbudgets", why: "both", with: { spec: { maxUnavailable: 1 } } },
  { of: "policy/v1/poddisruptionbudgets", why: "percentage", with: { spec: { minAvailable: "50%" } } },
  { of: "policy/v1/poddisruptionbudgets", why: "no percentage", with: { spec: { minAvailable: "half" } } },
  { of: "policy/v1/poddisruptionbudgets", why: "negative", with: { spec: { minAvailable: -1 } } },
  { of: "policy/v1/poddisruptionbudgets", why: "above all", with: { spec: { minAvailable: "120%" } } },
  {
    of: "policy/v1/poddisruptionbudgets",
    why: "selector with a bad value",
    with: { spec: { selector: { matchLabels: { a: "b c" } } } },
  },
  { of: "policy/v1/poddisruptionbudgets", why: "changes", next: { spec: { minAvailable: 2 } } },
  { of: "networking.k8s.io/v1/networkpolicies", why: "egress", with: { spec: { egress: [{ ports: [{ port: 5 }] }] } } },
  { of: "networking.k8s.io/v1/networkpolicies", why: "unknown type", with: { spec: { policyTypes: ["x"] } } },
  {
    of: "networking.k8s.io/v1/networkpolicies",
    why: "port too big",
    with: { spec: { ingress: [{ ports: [{ port: 70000 }] }] } },
  },
  {
    of: "networking.k8s.io/v1/networkpolicies",
    why: "unknown protocol",
    with: { spec: { ingress: [{ ports: [{ port: 7, protocol: "tcp" }] }] } },
  },
  { of: "networking.k8s.io/v1/networkpolicies", why: "empty peer", with: { spec: { ingress: [{ from: [{}] }] } } },
  {
    of: "networking.k8s.io/v1/networkpolicies",
    why: "block and selector",
    with: { spec: { ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }] }] } },
  },
  {
    of: "networking.k8s.io/v1/networkpolicies",
    why: "no block",
    with: { spec: { ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0" } }] }] } },
  },
  { of: "networking.k8s.io/v1/ingresses", why: "nothing", with: { spec: { defaultBackend: null } } },
  {
    of: "networking.k8s.io/v1/ingresses",
    why: "path",
    with: {
      spec: {
        defaultBackend: null,
        rules: [
          {
            host: "a.b",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { name: "http" } } } }],
            },
          },
        ],
      },
    },
  },
  {
    of: "networking.k8s.io/v1/ingresses",
    why: "path without type",
    with: {
      spec: {
        rules: [{ http: { paths: [{ path: "/", backend: { service: { name: "s", port: { number: 80 } } } }] } }],
      },
    },
  },
  {
    of: "networking.k8s.io/v1/ingresses",
    why: "path without slash",
    with: {
      spec: {
        rules: [
          {
            http: {
              paths: [{ path: "x", pathType: "Exact", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
  },
  { of: "networking.k8s.io/v1/ingresses", why: "host is an address", with: { spec: { rules: [{ host: "1.2.3.4" }] } } },
  {
    of: "networking.k8s.io/v1/ingresses",
    why: "backend without port",
    with: { spec: { defaultBackend: { service: { port: null } } } },
  },
  {
    of: "networking.k8s.io/v1/ingresses",
    why: "backend without service",
    with: { spec: { defaultBackend: { service: null } } },
  },
  { of: "networking.k8s.io/v1/ingressclasses", why: "controller without domain", with: { spec: { controller: "a" } } },
  {
    of: "networking.k8s.io/v1/ingressclasses",
    why: "controller does not change",
    next: { spec: { controller: "b.c/d" } },
  },
  {
    of: "rbac.authorization.k8s.io/v1/roles",
    why: "rule without verbs",
    with: { rules: [{ verbs: [], apiGroups: [""], resources: ["pods"] }] },
  },
  {
    of: "rbac.authorization.k8s.io/v1/roles",
    why: "rule without resources",
    with: { rules: [{ verbs: ["get"], apiGroups: [""] }] },
  },
  {
    of: "rbac.authorization.k8s.io/v1/roles",
    why: "rule without groups",
    with: { rules: [{ verbs: ["get"], resources: ["pods"] }] },
  },
  {
    of: "rbac.authorization.k8s.io/v1/roles",
    why: "urls in a namespace",
    with: { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
  },
  {
    of: "rbac.authorization.k8s.io/v1/clusterroles",
    why: "urls and resources",
    with: { rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], nonResourceURLs: ["/x"] }] },
  },
  {
    of: "rbac.authorization.k8s.io/v1/clusterroles",
    why: "aggregated",
    with: { rules: null, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } },
  },
  {
    of: "rbac.authorization.k8s.io/v1/clusterroles",
    why: "aggregation without selectors",
    with: { aggregationRule: {} },
  },
  { of: "rbac.authorization.k8s.io/v1/rolebindings", why: "no role", with: { roleRef: { kind: "Role", name: "" } } },
  {
    of: "rbac.authorization.k8s.io/v1/rolebindings",
    why: "role of unknown kind",
    with: { roleRef: { kind: "x", name: "r" } },
  },
  {
    of: "rbac.authorization.k8s.io/v1/rolebindings",
    why: "role of another group",
    with: { roleRef: { apiGroup: "x", kind: "Role", name: "r" } },
  },
  {
    of: "rbac.authorization.k8s.io/v1/rolebindings",
    why: "account without namespace",
    with: { subjects: [{ kind: "ServiceAccount", name: "a" }] },
  },
  {
    of: "rbac.authorization.k8s.io/v1/rolebindings",
    why: "subject without name",
    with: { subjects: [{ kind: "User", name: "" }] },
  },
  {
    of: "rbac.authorization.k8s.io/v1/rolebindings",
    why: "subject of unknown kind",
    with: { subjects: [{ kind: "Robot", name: "a" }] },
  },
  {
    of: "rbac.authorization.k8s.io/v1/rolebindings",
    why: "role does not change",
    next: { roleRef: { kind: "Role", name: "other" } },
  },
  {
    of: "rbac.authorization.k8s.io/v1/clusterrolebindings",
    why: "a role of a namespace",
    with: { roleRef: { kind: "Role", name: "r" } },
  },
  {
    of: "rbac.authorization.k8s.io/v1/clusterrolebindings",
    why: "subjects change",
    next: { subjects: [{ kind: "Group", name: "g" }] },
  },
  { of: "admissionregistration.k8s.io/v1/validatingwebhookconfigurations", why: "changes", next: { webhooks: [] } },
];

/** Bodies whose values have the wrong type; the whole body is rejected. */
const DECODING: readonly KindCase[] = [
  { of: "apps/v1/deployments", why: "replicas as a string", with: { spec: { replicas: "three" } } },
  { of: "apps/v1/deployments", why: "replicas with a fraction", with: { spec: { replicas: 1.5 } } },
  { of: "apps/v1/deployments", why: "replicas beyond 32 bits", with: { spec: { replicas: 99999999999 } } },
  { of: "apps/v1/deployments", why: "image is a number", with: inTemplate({ containers: [{ name: "c", image: 5 }] }) },
  { of: "apps/v1/deployments", why: "containers are not a list", with: inTemplate({ containers: { name: "c" } }) },
  { of: "apps/v1/deployments", why: "spec is a list", with: { spec: [] } },
  { of: "v1/pods", why: "pull policy is a number", with: container({ imagePullPolicy: 5 }) },
  { of: "v1/pods", why: "no quantity", with: container({ resources: { limits: { cpu: "abc" } } }) },
  { of: "v1/pods", why: "quantity is a boolean", with: container({ resources: { limits: { cpu: true } } }) },
  { of: "v1/pods", why: "no time", with: { metadata: { deletionTimestamp: "yesterday" } } },
  { of: "v1/configmaps", why: "label is a number", with: { metadata: { labels: { a: 1 } } } },
  { of: "v1/configmaps", why: "labels are a list", with: { metadata: { labels: [] } } },
  { of: "v1/configmaps", why: "value is a boolean", with: { data: { a: true } } },
  { of: "v1/secrets", why: "no base64", with: { data: { a: "!!" } } },
  { of: "v1/secrets", why: "truncated base64", with: { data: { a: "YWJjZA" } } },
  { of: "v1/secrets", why: "value is a number", with: { data: { a: 5 } } },
  { of: "v1/services", why: "metadata is a string", with: { metadata: "a" } },
];

/** Every case, in the order of the tables. */
export const KIND_CASES: readonly KindCase[] = [
  ...MINIMALS,
  ...DECODING,
  ...METADATA,
  ...PODS,
  ...WORKLOADS,
  ...SERVICES,
  ...STORED,
  ...POLICIES,
];
