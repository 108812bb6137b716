import type { JsonObject } from "@oaas/kube-core";
import type { Step, Subject } from "../src/case.ts";
import {
  apply,
  configMap,
  create,
  deployment,
  get,
  jsonPatch,
  mergePatch,
  pod,
  remove,
  replace,
  strategicMergePatch,
} from "../src/case-steps.ts";

/** A Scale to apply or replace. */
function scaleOf(replicas: number, name = "web"): JsonObject {
  return { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name }, spec: { replicas } };
}

/** A pod of the budgets below with this readiness. */
function podInBudget(name: string, isReady: boolean): readonly Step[] {
  const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
  return [
    create("pods", pod(name, {}, { labels: { app: "web" } })),
    mergePatch(`pods/${name}/status`, { status: { phase: "Running", conditions } }),
  ];
}

/** A budget with a status as its controller writes it. */
function budget(name: string, counted: JsonObject, spec: JsonObject = {}): readonly Step[] {
  return [
    create("poddisruptionbudgets", {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } }, ...spec },
    }),
    mergePatch(`poddisruptionbudgets/${name}/status`, { status: counted }),
  ];
}

function evict(name: string, rest: Parameters<typeof create>[2] = {}, query = ""): Step {
  return create(
    `pods/${name}/eviction${query}`,
    { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } },
    rest,
  );
}

const COUNTED = { currentHealthy: 2, desiredHealthy: 1, expectedPods: 2, observedGeneration: 1 };

/** A pod to resize, in the QoS class Burstable. */
function resizablePod(name: string, resources: JsonObject = SMALL, spec: JsonObject = {}): JsonObject {
  return pod(name, { containers: [{ name: "main", image: "example.test/web:1", resources }], ...spec });
}

const SMALL = { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "1" } };

/** A write to the resources of the container `main`. */
function resized(resources: JsonObject, more: JsonObject = {}): JsonObject {
  return { spec: { containers: [{ name: "main", resources, ...more }] } };
}

function appliedResize(name: string, cpu: string): JsonObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, ...resized({ requests: { cpu } }) };
}

const RUNNING_CONTAINER = {
  name: "main",
  image: "example.test/web:1",
  imageID: "",
  ready: true,
  restartCount: 0,
  state: { running: {} },
};

const RESIZED = ["spec.containers", "metadata.generation", "metadata.labels", "metadata.managedFields"];

const WEB = create("deployments", deployment("web", { replicas: 2 }));

export const subresources: Subject = {
  subject: "subresources",
  needs: "api",
  cases: [
    {
      name: "the main resource does not write the status",
      given: [WEB],
      steps: [
        mergePatch("deployments/web", { status: { replicas: 9 } }),
        mergePatch("deployments/web/status", { spec: { replicas: 9 }, status: { replicas: 2, readyReplicas: 1 } }),
      ],
    },
    {
      name: "create ignores the status",
      steps: [create("deployments", { ...deployment("web"), status: { replicas: 5 } })],
    },
    {
      name: "the status subresource may change metadata",
      given: [create("deployments", deployment("web"))],
      steps: [
        mergePatch(
          "deployments/web/status",
          { metadata: { labels: { l: "1" }, annotations: { a: "1" } } },
          { show: ["metadata.labels", "metadata.annotations", "metadata.generation"] },
        ),
      ],
    },
    {
      name: "merges conditions by type with a strategic patch",
      given: [
        WEB,
        strategicMergePatch("deployments/web/status", {
          status: { conditions: [{ type: "Available", status: "False" }] },
        }),
      ],
      steps: [
        strategicMergePatch(
          "deployments/web/status",
          {
            status: {
              conditions: [
                { type: "Progressing", status: "True" },
                { type: "Available", status: "True" },
              ],
            },
          },
          { show: ["status"] },
        ),
      ],
    },
    {
      name: "rejects an invalid status",
      given: [WEB],
      steps: [
        mergePatch("deployments/web/status", { status: { replicas: -1 } }, { want: 422 }),
        mergePatch("deployments/web/status", { status: { replicas: 1, readyReplicas: 5 } }, { want: 422 }),
      ],
    },
    {
      name: "reads the scale of a Deployment",
      given: [WEB, mergePatch("deployments/web/status", { status: { replicas: 2 } })],
      steps: [
        get("deployments/web/scale", {
          want: [200, { kind: "Scale", spec: { replicas: 2 }, status: { selector: "app=web" } }],
        }),
      ],
    },
    {
      name: "writes the scale of a Deployment",
      given: [WEB],
      steps: [
        replace("deployments/web/scale", {
          apiVersion: "autoscaling/v1",
          kind: "Scale",
          metadata: { name: "web", namespace: "{ns}" },
          spec: { replicas: 5 },
        }),
        mergePatch("deployments/web/scale?fieldManager=scaler", { spec: { replicas: 7 } }),
        jsonPatch("deployments/web/scale", [{ op: "replace", path: "/spec/replicas", value: 8 }]),
        get("deployments/web"),
      ],
    },
    {
      name: "scaling to the current count takes over its ownership",
      given: [create("deployments?fieldManager=m1", deployment("web", { replicas: 2 }))],
      steps: [
        mergePatch("deployments/web/scale?fieldManager=m1", { spec: { replicas: 2 } }),
        get("deployments/web"),
        mergePatch("deployments/web/scale?fieldManager=m2", { spec: { replicas: 0 } }),
        get("deployments/web", { show: ["metadata.managedFields"] }),
      ],
    },
    {
      name: "an applied Scale conflicts with the owner of the count",
      given: [apply("m1", "deployments/web", deployment("web", { replicas: 2 }))],
      steps: [
        apply("m2", "deployments/web/scale", scaleOf(3), { want: 409 }),
        apply("m2", "deployments/web/scale", scaleOf(3), { force: true }),
        apply("m3", "deployments/web/scale", scaleOf(3)),
        get("deployments/web", { show: ["spec.replicas", "metadata.managedFields"] }),
        apply("m1", "deployments/none/scale", scaleOf(3, "none"), { want: 404 }),
      ],
    },
    {
      name: "validates the fields of a Scale strictly",
      given: [WEB],
      steps: [
        replace("deployments/web/scale", { spec: { replicas: 1 } }, { want: 400 }),
        replace("deployments/web/scale", scaleOf(1, "other"), { want: 400 }),
        replace("deployments/web/scale", { ...scaleOf(1), kind: "Scales" }, { want: 400 }),
        replace("deployments/web/scale", { metadata: { name: "web" } }),
        mergePatch("deployments/web/scale", { spec: { replicas: 1, more: 1 } }),
        mergePatch("deployments/web/scale?fieldValidation=Strict", { spec: { replicas: 1, more: 1 } }, { want: 422 }),
        mergePatch("deployments/web/scale", { metadata: { uid: "x" }, spec: { replicas: 3 } }, { want: 409 }),
        mergePatch(
          "deployments/web/scale",
          { metadata: { resourceVersion: "1" }, spec: { replicas: 3 } },
          { want: 409 },
        ),
      ],
    },
    {
      name: "the status subresource removes omitted metadata except labels of a Deployment",
      given: [
        create("deployments?fieldManager=m1", {
          ...deployment("web"),
          metadata: { name: "web", labels: { l: "1" }, annotations: { a: "1" } },
        }),
        create("pods?fieldManager=m1", pod("p", {}, { labels: { l: "1" }, annotations: { a: "1" } })),
      ],
      steps: [
        replace("deployments/web/status?fieldManager=m2", { ...deployment("web"), status: {} }),
        replace("pods/p/status?fieldManager=m2", { ...pod("p"), status: { phase: "Running" } }),
      ],
    },
    {
      name: "rejects an invalid scale",
      given: [WEB],
      steps: [
        mergePatch("deployments/web/scale", { spec: { replicas: -1 } }, { want: 422 }),
        mergePatch("deployments/none/scale", { spec: { replicas: 1 } }, { want: 404 }),
        get("deployments/none/scale", { want: 404 }),
        replace(
          "deployments/web/scale",
          {
            apiVersion: "autoscaling/v1",
            kind: "Scale",
            metadata: { name: "web", namespace: "{ns}", resourceVersion: "1" },
            spec: { replicas: 5 },
          },
          { want: 409 },
        ),
        mergePatch("deployments/web/scale", { spec: { replicas: "x" } }, { want: 422, show: ["reason"] }),
      ],
    },
    {
      name: "scales ReplicaSets and StatefulSets",
      given: [
        create("replicasets", { ...deployment("rs", { replicas: 1 }), kind: "ReplicaSet" }),
        create("statefulsets", { ...deployment("ss", { replicas: 1, serviceName: "ss" }), kind: "StatefulSet" }),
      ],
      steps: [
        mergePatch("replicasets/rs/scale", { spec: { replicas: 2 } }),
        mergePatch("statefulsets/ss/scale", { spec: { replicas: 2 } }),
      ],
    },
    {
      name: "returns 404 for an unknown subresource",
      given: [create("configmaps", configMap("a"))],
      steps: [
        get("configmaps/a/status", { want: 404 }),
        get("configmaps/a/scale", { want: 404 }),
        get("configmaps/a/frobnicate", { want: 404 }),
      ],
    },
    {
      name: "writes the status of a pod",
      given: [create("pods", pod("p"))],
      steps: [
        mergePatch("pods/p/status", { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } }),
        mergePatch("pods/p", { status: { phase: "Failed" } }, { show: ["status.phase"] }),
      ],
    },
    {
      name: "binds a pod to a node",
      given: [create("pods", pod("p"))],
      steps: [
        create("pods/p/binding", {
          apiVersion: "v1",
          kind: "Binding",
          metadata: { name: "p" },
          target: { apiVersion: "v1", kind: "Node", name: "n1" },
        }),
        { ...get("pods/p"), show: ["spec.nodeName", "status.conditions[*].type", "status.conditions[*].status"] },
        create(
          "pods/p/binding",
          {
            apiVersion: "v1",
            kind: "Binding",
            metadata: { name: "p" },
            target: { apiVersion: "v1", kind: "Node", name: "n2" },
          },
          { want: 409 },
        ),
      ],
    },
    {
      name: "evicts a pod",
      given: [create("pods", pod("p"))],
      steps: [
        create("pods/p/eviction", { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } }),
        get("pods/p", { want: 404 }),
        create(
          "pods/p/eviction",
          { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } },
          { want: 404 },
        ),
      ],
    },
    {
      name: "evictions decrement the budget until none is allowed",
      given: [
        ...podInBudget("a", true),
        ...podInBudget("b", true),
        ...budget("web", { ...COUNTED, disruptionsAllowed: 1 }),
      ],
      steps: [
        evict("a", {}, "?dryRun=All"),
        get("poddisruptionbudgets/web", { show: ["status"] }),
        evict("a"),
        get("poddisruptionbudgets/web", { show: ["status.disruptionsAllowed", "status.conditions"] }),
        get("poddisruptionbudgets/web", { show: ["metadata.managedFields[*].manager"] }),
        evict("b", { want: 429 }),
        get("pods/b", { show: ["metadata.name"] }),
      ],
    },
    {
      name: "a budget without status allows no eviction",
      given: [
        ...podInBudget("a", true),
        ...budget("web", { ...COUNTED, observedGeneration: 0, disruptionsAllowed: 1 }),
      ],
      steps: [evict("a", { want: 429 })],
    },
    {
      name: "two budgets of one pod allow no eviction",
      given: [
        ...podInBudget("a", true),
        ...budget("one", { ...COUNTED, disruptionsAllowed: 1 }),
        ...budget("two", { ...COUNTED, disruptionsAllowed: 1 }),
      ],
      steps: [evict("a", { want: 500 })],
    },
    {
      name: "evicts an unready pod when enough others are healthy",
      given: [
        ...podInBudget("a", false),
        ...podInBudget("b", false),
        ...budget("web", { ...COUNTED, currentHealthy: 1, disruptionsAllowed: 0 }),
      ],
      steps: [
        evict("a"),
        mergePatch(
          "poddisruptionbudgets/web/status",
          { status: { currentHealthy: 0 } },
          { show: ["status.currentHealthy"] },
        ),
        evict("b", { want: 429 }),
        mergePatch("poddisruptionbudgets/web", { spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } }, { show: [] }),
        evict("b"),
      ],
    },
    {
      name: "most fields of a pod are immutable",
      given: [create("pods", pod("p"))],
      steps: [
        mergePatch(
          "pods/p",
          { spec: { containers: [{ name: "main", image: "example.test/web:2" }] } },
          { show: ["spec.containers[*].image"] },
        ),
        mergePatch(
          "pods/p",
          { spec: { containers: [{ name: "main", image: "example.test/web:2", command: ["x"] }] } },
          { want: 422, show: ["reason", "details.causes[*].field"] },
        ),
        mergePatch(
          "pods/p",
          { spec: { nodeName: "other" } },
          { want: 422, show: ["reason", "details.causes[*].field"] },
        ),
        mergePatch(
          "pods/p",
          { metadata: { labels: { l: "1" } } },
          { show: ["metadata.labels", "metadata.generation"] },
        ),
      ],
    },
    {
      name: "resizes a pod",
      given: [create("pods?fieldManager=m1", resizablePod("p"))],
      steps: [
        strategicMergePatch("pods/p/resize?fieldManager=m2", resized({ requests: { cpu: "200m" } }), { show: RESIZED }),
        strategicMergePatch("pods/p/resize?fieldManager=m2", resized({ requests: { cpu: "200m" } }), { show: RESIZED }),
        jsonPatch("pods/p/resize", [{ op: "add", path: "/spec/containers/0/resources/limits/memory", value: "1Gi" }], {
          show: RESIZED,
        }),
        get("pods/p/resize", { show: ["kind", ...RESIZED] }),
        create("pods/p/resize", resizablePod("p"), { want: 405 }),
        remove("pods/p/resize", undefined, { want: 405 }),
        strategicMergePatch("pods/none/resize", resized({ requests: { cpu: "1" } }), { want: 404 }),
      ],
    },
    {
      name: "a resize writes nothing except resources and resize policies",
      given: [create("pods?fieldManager=m1", resizablePod("p"))],
      steps: [
        strategicMergePatch(
          "pods/p/resize?fieldManager=m2",
          {
            metadata: { labels: { l: "1" }, annotations: { a: "1" } },
            ...resized({ requests: { cpu: "200m" } }, { image: "example.test/web:2" }),
            status: { phase: "Running" },
          },
          { show: [...RESIZED, "metadata.annotations", "status.phase"] },
        ),
        strategicMergePatch(
          "pods/p/resize?fieldManager=m2",
          resized({}, { resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] }),
          { want: 422 },
        ),
        strategicMergePatch("pods/p?fieldManager=m2", resized({ requests: { cpu: "300m" } }), {
          want: 422,
          show: ["reason", "details.causes[*].field"],
        }),
        replace(
          "pods/p/resize?fieldManager=m3",
          resizablePod("p", { requests: { cpu: "150m", memory: "64Mi" }, limits: { cpu: "2" } }),
          {
            show: RESIZED,
          },
        ),
      ],
    },
    {
      name: "rejects an invalid resize",
      given: [create("pods", resizablePod("p")), create("pods", resizablePod("none", {}))],
      steps: [
        jsonPatch("pods/p/resize", [{ op: "remove", path: "/spec/containers/0/resources/requests/memory" }], {
          want: 422,
        }),
        jsonPatch("pods/p/resize", [{ op: "remove", path: "/spec/containers/0/resources/limits" }], { want: 422 }),
        strategicMergePatch("pods/p/resize", resized({ requests: { cpu: "2" } }), { want: 422 }),
        strategicMergePatch("pods/p/resize", resized({ requests: { "ephemeral-storage": "1Gi" } }), { want: 422 }),
        strategicMergePatch(
          "pods/p/resize",
          resized({ requests: { cpu: "1", memory: "64Mi" }, limits: { cpu: "1", memory: "64Mi" } }),
          { want: 422 },
        ),
        strategicMergePatch("pods/none/resize", resized({ requests: { cpu: "1" } }), { want: 422 }),
        mergePatch(
          "pods/p/resize",
          { spec: { containers: [{ name: "other", image: "i" }] } },
          { want: 422, show: ["reason", "details.causes[*].field"] },
        ),
        strategicMergePatch(
          "pods/p/resize",
          { spec: { containers: [{ name: "more", image: "example.test/web:1" }] } },
          { want: 422, show: ["reason", "details.causes[*].field"] },
        ),
        strategicMergePatch("pods/p/resize", resized({ requests: { cpu: "x" } }), { want: 422, show: ["reason"] }),
      ],
    },
    {
      name: "resizes by server-side apply, and conflicts with another resize",
      given: [create("pods?fieldManager=m1", resizablePod("p"))],
      steps: [
        apply("m2", "pods/p/resize", appliedResize("p", "200m"), { want: 409 }),
        apply("m2", "pods/p/resize", appliedResize("p", "200m"), { force: true, show: RESIZED }),
        apply("m2", "pods/p/resize", appliedResize("p", "200m"), { show: RESIZED }),
        apply("m3", "pods/p/resize", appliedResize("p", "300m"), { want: 409 }),
        apply("m2", "pods/p/resize?dryRun=All", appliedResize("p", "400m"), { show: ["spec.containers"] }),
        apply("m2", "pods/none/resize", appliedResize("none", "200m"), { want: 404 }),
        get("pods/p", { show: RESIZED }),
      ],
    },
    {
      name: "rejects a resize on a node that does not report resources",
      given: [
        create("pods", resizablePod("p")),
        mergePatch("pods/p/status", {
          status: { phase: "Running", containerStatuses: [{ ...RUNNING_CONTAINER }] },
        }),
      ],
      steps: [
        strategicMergePatch("pods/p/resize", resized({ requests: { cpu: "200m" } }), { want: 422 }),
        mergePatch(
          "pods/p/status",
          { status: { containerStatuses: [{ ...RUNNING_CONTAINER, resources: {} }] } },
          { show: ["status"] },
        ),
        strategicMergePatch("pods/p/resize", resized({ requests: { cpu: "200m" } }), { show: RESIZED }),
      ],
    },
    {
      name: "resizes init containers",
      given: [
        create(
          "pods",
          resizablePod("p", SMALL, {
            initContainers: [
              { name: "setup", image: "example.test/setup:1", resources: SMALL },
              { name: "proxy", image: "example.test/proxy:1", restartPolicy: "Always", resources: SMALL },
            ],
          }),
        ),
      ],
      steps: [
        strategicMergePatch(
          "pods/p/resize",
          { spec: { initContainers: [{ name: "proxy", resources: { requests: { cpu: "200m" } } }] } },
          { show: ["spec.initContainers"] },
        ),
        strategicMergePatch(
          "pods/p/resize",
          { spec: { initContainers: [{ name: "setup", resources: { requests: { cpu: "200m" } } }] } },
          { show: ["spec.initContainers"] },
        ),
        jsonPatch("pods/p/resize", [{ op: "remove", path: "/spec/initContainers/0" }], {
          want: 422,
          show: ["reason", "details.causes[*].field"],
        }),
      ],
    },
    {
      name: "creates a token of a service account",
      given: [create("serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } })],
      steps: [
        create(
          "serviceaccounts/robot/token",
          { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 600 } },
          { show: ["kind", "spec.expirationSeconds"] },
        ),
        create(
          "serviceaccounts/robot/token",
          { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 60 } },
          { want: 422 },
        ),
        create(
          "serviceaccounts/none/token",
          { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
          { want: 404 },
        ),
      ],
    },
    {
      name: "rejects delete on a subresource",
      given: [WEB],
      steps: [
        remove("deployments/web/status", undefined, { want: 405 }),
        remove("deployments/web/scale", undefined, { want: 405 }),
      ],
    },
  ],
};
