import type { JsonObject } from "@oaas/kube-core";

const template = {
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "c", image: "i" }] },
};
const selector = { matchLabels: { app: "a" } };

/** The minimal object of each kind that the real server accepts, by `apiVersion/resource`, without name. */
export const MINIMAL: Readonly<Record<string, JsonObject>> = {
  "v1/configmaps": {},
  "v1/endpoints": {},
  "v1/events": { involvedObject: { kind: "Pod", name: "p", namespace: "default" } },
  "v1/limitranges": { spec: { limits: [{ type: "Container", max: { cpu: "2" } }] } },
  "v1/namespaces": {},
  "v1/nodes": {},
  "v1/persistentvolumeclaims": {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  },
  "v1/persistentvolumes": {
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/tmp" } },
  },
  "v1/pods": { spec: { containers: [{ name: "c", image: "i" }] } },
  "v1/podtemplates": { template },
  "v1/replicationcontrollers": { spec: { selector: { app: "a" }, template } },
  "v1/resourcequotas": { spec: { hard: { pods: "1" } } },
  "v1/secrets": {},
  "v1/serviceaccounts": {},
  "v1/services": { spec: { ports: [{ port: 80 }] } },
  "admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": {
    webhooks: [
      {
        name: "a.b.c",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        clientConfig: { url: "https://example.com/x" },
      },
    ],
  },
  "admissionregistration.k8s.io/v1/validatingwebhookconfigurations": {
    webhooks: [
      {
        name: "a.b.c",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        clientConfig: { service: { namespace: "n", name: "s" } },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
      },
    ],
  },
  "apps/v1/controllerrevisions": { revision: 1, data: { a: 1 } },
  "apps/v1/daemonsets": { spec: { selector, template } },
  "apps/v1/deployments": { spec: { selector, template } },
  "apps/v1/replicasets": { spec: { selector, template } },
  "apps/v1/statefulsets": { spec: { selector, template, serviceName: "s" } },
  "autoscaling/v1/horizontalpodautoscalers": {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
  },
  "autoscaling/v2/horizontalpodautoscalers": {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
  },
  "batch/v1/cronjobs": {
    spec: {
      schedule: "* * * * *",
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
      },
    },
  },
  "batch/v1/jobs": {
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
  },
  "coordination.k8s.io/v1/leases": { spec: {} },
  "discovery.k8s.io/v1/endpointslices": { addressType: "IPv4" },
  "events.k8s.io/v1/events": {
    regarding: { kind: "Pod", name: "p", namespace: "default" },
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "a.b/c",
    reportingInstance: "i",
    action: "Doing",
    reason: "Done",
    type: "Normal",
  },
  "networking.k8s.io/v1/ingressclasses": { spec: { controller: "a.b/c" } },
  "networking.k8s.io/v1/ingresses": {
    spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
  },
  "networking.k8s.io/v1/networkpolicies": { spec: { podSelector: {} } },
  "policy/v1/poddisruptionbudgets": { spec: { minAvailable: 1, selector } },
  "rbac.authorization.k8s.io/v1/clusterrolebindings": {
    roleRef: { kind: "ClusterRole", name: "r" },
    subjects: [{ kind: "User", name: "u" }],
  },
  "rbac.authorization.k8s.io/v1/clusterroles": {
    rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
  },
  "rbac.authorization.k8s.io/v1/rolebindings": {
    roleRef: { kind: "Role", name: "r" },
    subjects: [{ kind: "ServiceAccount", name: "u", namespace: "n" }],
  },
  "rbac.authorization.k8s.io/v1/roles": { rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }] },
  "scheduling.k8s.io/v1/priorityclasses": { value: 5 },
  "storage.k8s.io/v1/storageclasses": { provisioner: "a.b/c" },
};
