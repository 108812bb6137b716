import type { JsonObject, JsonValue } from "@oaas/kube-core";
import type { Step, Subject } from "../src/case.ts";
import {
  create,
  deployment,
  get,
  waitUntilGone,
  mergePatch,
  pod,
  remove,
  service,
  waitFor,
} from "../src/case-steps.ts";

const CONDITIONS = ["status.conditions[*].type", "status.conditions[*].status", "status.conditions[*].reason"];
const COUNTS = [
  "status.replicas",
  "status.readyReplicas",
  "status.availableReplicas",
  "status.updatedReplicas",
  "status.unavailableReplicas",
  "status.observedGeneration",
];

/** Waits for a condition of one of these. */
function condition(
  path: string,
  type: string,
  status: string,
  show: readonly string[] = [...CONDITIONS, ...COUNTS],
): Step {
  return waitFor(path, { status: { conditions: [{ type, status }] } }, { show, unordered: true });
}

function job(name: string, spec: JsonObject = {}, image = "example.test/task:1"): JsonObject {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image }] } }, ...spec },
  };
}

function statefulSet(name: string, spec: JsonObject = {}): JsonObject {
  return { ...deployment(name, { serviceName: name, ...spec }), kind: "StatefulSet" };
}

const POD_SHAPE = [
  "items[*].status.phase",
  "items[*].metadata.ownerReferences[*].kind",
  "items[*].metadata.generateName",
];

/** The events of an object, as a set of reasons and types. */
function events(kind: string, reasons: readonly string[]): Step {
  const items: JsonValue = reasons.map((reason) => ({ reason }));
  return waitFor(
    `events?fieldSelector=involvedObject.kind%3D${kind}`,
    { items },
    {
      show: ["items[*].type", "items[*].reason", "items[*].message"],
      unordered: true,
    },
  );
}

export const workloads: Subject = {
  subject: "workloads",
  needs: "controllers",
  cases: [
    {
      name: "a Deployment becomes available",
      given: [create("deployments", deployment("web", { replicas: 2 }))],
      steps: [
        waitFor(
          "deployments/web",
          { status: { availableReplicas: 2 } },
          { show: [...CONDITIONS, ...COUNTS, "metadata.annotations"], unordered: true },
        ),
        {
          ...get("replicasets"),
          show: [
            "items[*].spec.replicas",
            "items[*].status.readyReplicas",
            "items[*].metadata.annotations",
            "items[*].metadata.labels",
            "items[*].metadata.ownerReferences[*].kind",
            "items[*].metadata.name",
          ],
        },
        {
          ...get("pods"),
          show: [
            ...POD_SHAPE,
            "items[*].metadata.labels",
            "items[*].status.conditions[*].status",
            "items[*].spec.schedulerName",
          ],
          unordered: true,
        },
      ],
    },
    {
      name: "events of a new Deployment",
      given: [
        create("deployments", deployment("web")),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }),
        waitFor("pods", { items: [{ status: { phase: "Running" } }] }),
      ],
      steps: [
        events("Deployment", ["ScalingReplicaSet"]),
        events("ReplicaSet", ["SuccessfulCreate"]),
        events("Pod", ["Scheduled"]),
      ],
    },
    {
      name: "scales a Deployment up and down",
      given: [
        create("deployments", deployment("web")),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }),
      ],
      steps: [
        mergePatch("deployments/web/scale", { spec: { replicas: 3 } }, { show: ["spec"] }),
        waitFor("deployments/web", { status: { availableReplicas: 3, replicas: 3 } }, { show: COUNTS }),
        mergePatch("deployments/web/scale", { spec: { replicas: 1 } }, { show: ["spec"] }),
        waitFor(
          "deployments/web",
          { status: { availableReplicas: 1, replicas: 1, observedGeneration: 3 } },
          { show: COUNTS },
        ),
      ],
    },
    {
      name: "a Deployment without replicas is available",
      given: [create("deployments", deployment("web", { replicas: 0 }))],
      steps: [condition("deployments/web", "Available", "True", CONDITIONS)],
    },
    {
      name: "a new image creates a new ReplicaSet and scales the old one to zero",
      given: [
        create("deployments", deployment("web")),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }),
      ],
      steps: [
        mergePatch(
          "deployments/web",
          { spec: { template: { spec: { containers: [{ name: "main", image: "example.test/web:2" }] } } } },
          { show: ["metadata.generation"] },
        ),
        waitFor(
          "deployments/web",
          { status: { observedGeneration: 2, updatedReplicas: 1, replicas: 1, availableReplicas: 1 } },
          { show: ["metadata.annotations"] },
        ),
        waitFor(
          "replicasets",
          { items: [{ spec: { replicas: 0 } }, { spec: { replicas: 1 } }] },
          { show: ["items[*].spec.replicas", "items[*].spec.template.spec.containers[0].image"], unordered: true },
        ),
      ],
    },
    {
      name: "Recreate deletes old pods first",
      given: [
        create("deployments", deployment("web", { strategy: { type: "Recreate" } })),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }),
      ],
      steps: [
        mergePatch(
          "deployments/web",
          { spec: { template: { spec: { containers: [{ name: "main", image: "example.test/web:2" }] } } } },
          { show: ["metadata.generation"] },
        ),
        waitFor(
          "deployments/web",
          { status: { observedGeneration: 2, updatedReplicas: 1, availableReplicas: 1, replicas: 1 } },
          { show: [...CONDITIONS, ...COUNTS], unordered: true },
        ),
      ],
    },
    {
      name: "a paused Deployment does not roll out",
      given: [create("deployments", deployment("web", { paused: true }))],
      steps: [
        waitFor("deployments/web", { status: { observedGeneration: 1 } }, { show: [] }),
        mergePatch("deployments/web", { spec: { paused: null } }, { show: ["spec.paused"] }),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }, { show: CONDITIONS, unordered: true }),
      ],
    },
    {
      name: "a deleted Deployment deletes its ReplicaSets and Pods",
      given: [
        create("deployments", deployment("web")),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }),
      ],
      steps: [
        remove("deployments/web", undefined, { show: ["kind"] }),
        waitFor("replicasets", { items: [] }, { show: [] }),
        waitUntilGone("deployments/web"),
      ],
    },
    {
      name: "recreates a deleted pod of a Deployment",
      given: [
        create("deployments", deployment("web")),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }),
        waitFor("pods", { items: [{ status: { phase: "Running" } }] }, { save: { pod: "items[0].metadata.name" } }),
      ],
      steps: [
        remove("pods/{pod}", undefined, { show: [] }),
        waitUntilGone("pods/{pod}"),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }, { show: COUNTS }),
      ],
    },
    {
      name: "a missing image keeps a Deployment unavailable",
      given: [create("deployments", deployment("web", {}, { image: "example.test/web:missing" }))],
      steps: [
        waitFor(
          "pods",
          { items: [{ status: { containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }] } }] },
          {
            show: [
              "items[*].status.phase",
              "items[*].status.containerStatuses[*].ready",
              "items[*].status.containerStatuses[*].state.waiting.reason",
            ],
          },
        ),
        waitFor(
          "deployments/web",
          {
            status: {
              updatedReplicas: 1,
              conditions: [
                { type: "Available", status: "False" },
                { type: "Progressing", reason: "ReplicaSetUpdated" },
              ],
            },
          },
          { show: [...CONDITIONS, ...COUNTS], unordered: true },
        ),
      ],
    },
    {
      name: "a crashing container keeps a Deployment unavailable",
      given: [create("deployments", deployment("web", {}, { image: "example.test/web:crashing" }))],
      steps: [
        waitFor(
          "pods",
          { items: [{ status: { containerStatuses: [{ state: { waiting: { reason: "CrashLoopBackOff" } } }] } }] },
          {
            show: [
              "items[*].status.phase",
              "items[*].status.containerStatuses[*].state.waiting.reason",
              "items[*].status.containerStatuses[*].ready",
            ],
          },
        ),
        waitFor(
          "deployments/web",
          {
            status: {
              updatedReplicas: 1,
              conditions: [
                { type: "Available", status: "False" },
                { type: "Progressing", reason: "ReplicaSetUpdated" },
              ],
            },
          },
          { show: [...CONDITIONS, ...COUNTS], unordered: true },
        ),
      ],
    },
    {
      name: "a Deployment reports an exceeded progress deadline",
      given: [
        create("deployments", deployment("web", { progressDeadlineSeconds: 2 }, { image: "example.test/web:missing" })),
      ],
      steps: [
        waitFor(
          "deployments/web",
          { status: { conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }] } },
          { show: CONDITIONS, unordered: true },
        ),
      ],
    },
    {
      name: "a pod with too large requests is unschedulable",
      given: [
        create(
          "pods",
          pod("big", {
            containers: [{ name: "main", image: "example.test/web:1", resources: { requests: { cpu: "1000" } } }],
          }),
        ),
      ],
      steps: [
        waitFor(
          "pods/big",
          { status: { conditions: [{ type: "PodScheduled", status: "False" }] } },
          { show: ["status.phase", "status.conditions[*].reason", "status.conditions[*].message"] },
        ),
        events("Pod", ["FailedScheduling"]),
      ],
    },
    {
      name: "a pod with an unmatched node selector is unschedulable",
      given: [create("pods", pod("picky", { nodeSelector: { disk: "none-has-this" } }))],
      steps: [
        waitFor(
          "pods/picky",
          { status: { conditions: [{ type: "PodScheduled", status: "False" }] } },
          { show: ["status.phase", "status.conditions[*].reason", "status.conditions[*].message"] },
        ),
      ],
    },
    {
      name: "a Deployment reports an exceeded quota",
      given: [
        create("resourcequotas", {
          apiVersion: "v1",
          kind: "ResourceQuota",
          metadata: { name: "q" },
          spec: { hard: { pods: "0" } },
        }),
        waitFor("resourcequotas/q", { status: { hard: { pods: "0" } } }),
        create("deployments", deployment("web")),
      ],
      steps: [
        waitFor(
          "deployments/web",
          { status: { conditions: [{ type: "ReplicaFailure", status: "True" }] } },
          { show: CONDITIONS, unordered: true },
        ),
      ],
    },
    {
      name: "a StatefulSet starts its pods in order",
      given: [create("statefulsets", statefulSet("db", { replicas: 2 }))],
      steps: [
        waitFor(
          "statefulsets/db",
          { status: { readyReplicas: 2 } },
          {
            show: [
              "status.replicas",
              "status.readyReplicas",
              "status.currentReplicas",
              "status.availableReplicas",
              "status.collisionCount",
            ],
          },
        ),
        {
          ...get("pods"),
          show: [
            "items[*].metadata.name",
            "items[*].metadata.labels",
            "items[*].spec.hostname",
            "items[*].spec.subdomain",
          ],
        },
      ],
    },
    {
      name: "a StatefulSet scales down from the last pod",
      given: [
        create("statefulsets", statefulSet("db", { replicas: 3 })),
        waitFor("statefulsets/db", { status: { readyReplicas: 3 } }),
      ],
      steps: [
        mergePatch("statefulsets/db/scale", { spec: { replicas: 1 } }, { show: ["spec"] }),
        waitUntilGone("pods/db-2"),
        waitUntilGone("pods/db-1"),
        waitFor(
          "statefulsets/db",
          { status: { replicas: 1, observedGeneration: 2 } },
          { show: ["status.replicas", "status.readyReplicas"] },
        ),
      ],
    },
    {
      name: "a StatefulSet keeps one claim per pod",
      given: [
        create(
          "statefulsets",
          statefulSet("db", {
            volumeClaimTemplates: [
              {
                metadata: { name: "data" },
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
              },
            ],
          }),
        ),
      ],
      steps: [
        waitFor(
          "persistentvolumeclaims/data-db-0",
          {},
          { show: ["metadata.labels", "spec.resources", "status.phase", "metadata.finalizers"] },
        ),
      ],
    },
    {
      name: "a StatefulSet recreates a pod under the same name",
      given: [
        create("statefulsets", statefulSet("db")),
        waitFor("statefulsets/db", { status: { readyReplicas: 1 } }),
        waitFor("pods/db-0", {}, { save: { first: "metadata.uid" } }),
      ],
      steps: [
        mergePatch(
          "statefulsets/db",
          { spec: { template: { metadata: { labels: { v: "2" } } } } },
          { show: ["metadata.generation"] },
        ),
        waitFor(
          "pods/db-0",
          { metadata: { labels: { v: "2" } }, status: { phase: "Running" } },
          { show: ["metadata.name"] },
        ),
        waitFor(
          "statefulsets/db",
          { status: { updatedReplicas: 1, readyReplicas: 1, observedGeneration: 2 } },
          { show: ["status.replicas"] },
        ),
      ],
    },
    {
      name: "a Job completes",
      given: [create("jobs", job("once"))],
      steps: [
        condition("jobs/once", "Complete", "True", [
          "status.succeeded",
          "status.failed",
          "status.active",
          "status.ready",
          ...CONDITIONS,
        ]),
        {
          ...get("pods"),
          show: [
            "items[*].status.phase",
            "items[*].metadata.generateName",
            "items[*].metadata.ownerReferences[*].kind",
            "items[*].metadata.finalizers",
          ],
        },
        events("Job", ["SuccessfulCreate", "Completed"]),
      ],
    },
    {
      name: "a Job of several completions",
      given: [create("jobs", job("many", { completions: 3, parallelism: 2 }))],
      steps: [condition("jobs/many", "Complete", "True", ["status.succeeded", "status.active"])],
    },
    {
      name: "an indexed Job numbers its pods",
      given: [create("jobs", job("numbered", { completions: 2, parallelism: 2, completionMode: "Indexed" }))],
      steps: [
        condition("jobs/numbered", "Complete", "True", ["status.succeeded", "status.completedIndexes"]),
        {
          ...get("pods"),
          show: ["items[*].metadata.annotations", "items[*].metadata.labels[batch.kubernetes.io/job-completion-index]"],
          unordered: true,
        },
      ],
    },
    {
      name: "a suspended Job creates no pods",
      given: [create("jobs", job("later", { suspend: true }))],
      steps: [
        condition("jobs/later", "Suspended", "True", CONDITIONS),
        mergePatch("jobs/later", { spec: { suspend: false } }, { show: ["spec.suspend"] }),
        condition("jobs/later", "Complete", "True", ["status.succeeded"]),
      ],
    },
    {
      name: "a Job past its deadline fails",
      // The deadline counts from the whole second in which the Job started: with one second no time might be left for a
      // pod.
      given: [create("jobs", job("late", { activeDeadlineSeconds: 2 }, "example.test/task:missing"))],
      steps: [
        waitFor(
          "jobs/late",
          { status: { conditions: [{ type: "Failed", status: "True" }] } },
          { show: [...CONDITIONS, "status.failed"], unordered: true },
        ),
      ],
    },
    {
      name: "EndpointSlices of a Service list its pods",
      given: [
        create("services", service("web")),
        create("deployments", deployment("web", { replicas: 2 })),
        waitFor("deployments/web", { status: { availableReplicas: 2 } }),
      ],
      steps: [
        waitFor(
          "endpointslices",
          { items: [{ endpoints: [{ conditions: { ready: true } }, { conditions: { ready: true } }] }] },
          {
            show: [
              "items[*].endpoints[*].conditions",
              "items[*].endpoints[*].targetRef.kind",
              "items[*].ports",
              "items[*].addressType",
              "items[*].metadata.labels",
              "items[*].metadata.ownerReferences[*].kind",
            ],
          },
        ),
      ],
    },
    {
      name: "a PodDisruptionBudget reports its counts",
      given: [
        create("deployments", deployment("web", { replicas: 3 })),
        waitFor("deployments/web", { status: { availableReplicas: 3 } }),
      ],
      steps: [
        create(
          "poddisruptionbudgets",
          {
            apiVersion: "policy/v1",
            kind: "PodDisruptionBudget",
            metadata: { name: "b" },
            spec: { minAvailable: 2, selector: { matchLabels: { app: "web" } } },
          },
          { show: ["spec"] },
        ),
        waitFor(
          "poddisruptionbudgets/b",
          { status: { expectedPods: 3 } },
          { show: ["status.disruptionsAllowed", "status.currentHealthy", "status.desiredHealthy", ...CONDITIONS] },
        ),
      ],
    },
    {
      name: "an HPA keeps minReplicas",
      given: [
        create("deployments", deployment("web", {}, { resources: { requests: { cpu: "100m" } } })),
        waitFor("deployments/web", { status: { availableReplicas: 1 } }),
        create("horizontalpodautoscalers", {
          apiVersion: "autoscaling/v2",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "web" },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            minReplicas: 2,
            maxReplicas: 4,
            metrics: [
              { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
            ],
          },
        }),
      ],
      steps: [
        waitFor("deployments/web", { spec: { replicas: 2 } }, { show: ["spec.replicas"] }),
        waitFor(
          "horizontalpodautoscalers/web",
          { status: { desiredReplicas: 2, conditions: [{ type: "AbleToScale" }] } },
          { show: ["status.desiredReplicas"] },
        ),
      ],
    },
    {
      name: "an HPA reports a missing target",
      given: [
        create("horizontalpodautoscalers", {
          apiVersion: "autoscaling/v2",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "web" },
          spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "none" }, maxReplicas: 4 },
        }),
      ],
      steps: [condition("horizontalpodautoscalers/web", "AbleToScale", "False", CONDITIONS)],
    },
    {
      name: "a ReplicaSet alone",
      given: [create("replicasets", { ...deployment("alone", { replicas: 2 }), kind: "ReplicaSet" })],
      steps: [
        waitFor("replicasets/alone", { status: { readyReplicas: 2, availableReplicas: 2 } }, { show: ["status"] }),
      ],
    },
    {
      name: "status of a running pod",
      given: [create("pods", pod("p"))],
      steps: [
        waitFor(
          "pods/p",
          { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
          {
            show: [
              "status.phase",
              "status.qosClass",
              "status.conditions[*].type",
              "status.conditions[*].status",
              "status.containerStatuses[*].ready",
              "status.containerStatuses[*].started",
              "status.containerStatuses[*].name",
            ],
            unordered: true,
          },
        ),
      ],
    },
  ],
};
