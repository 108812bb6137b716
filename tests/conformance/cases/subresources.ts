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
