import {
  BUDGETS,
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  JOBS,
  PODS,
  QUOTAS,
  REPLICA_SETS,
  REVISIONS,
  SERVICES,
  STATEFUL_SETS,
  type Resource,
} from "../objects/resources.ts";
import type { Stage, Scenario } from "./scenario.ts";

const template = (app: string, image: string, spec: object = {}): object => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: app, image, resources: { requests: { cpu: "100m" } } }], ...spec },
});

const workload = (app: string, spec: object = {}, pod: object = {}): object => ({
  metadata: { name: app },
  spec: { selector: { matchLabels: { app } }, template: template(app, `example.test/${app}:1`, pod), ...spec },
});

const apply =
  (kind: Resource, object: object) =>
  (stage: Stage): Promise<void> =>
    stage.apply(kind, object);

const patch =
  (kind: Resource, name: string, spec: object) =>
  (stage: Stage): Promise<void> =>
    stage.patch(kind, name, { spec });

const image = (app: string, tag: string): object => ({
  template: {
    spec: {
      containers: [{ name: app, image: `example.test/${app}:${tag}`, resources: { requests: { cpu: "100m" } } }],
    },
  },
});

/** Scenarios that run on a real and on the simulated cluster and must produce the same text. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "deployment",
    kinds: [DEPLOYMENTS, REPLICA_SETS],
    steps: [
      ["created", apply(DEPLOYMENTS, workload("web", { replicas: 3 }))],
      ["scaled up", patch(DEPLOYMENTS, "web", { replicas: 5 })],
      ["scaled down", patch(DEPLOYMENTS, "web", { replicas: 2 })],
      ["rolled out", patch(DEPLOYMENTS, "web", image("web", "2"))],
      ["rolled back", patch(DEPLOYMENTS, "web", image("web", "1"))],
      [
        "recreated",
        patch(DEPLOYMENTS, "web", { strategy: { type: "Recreate", rollingUpdate: null }, ...image("web", "3") }),
      ],
      ["paused", patch(DEPLOYMENTS, "web", { paused: true })],
      ["scaled to nothing", patch(DEPLOYMENTS, "web", { paused: false, replicas: 0 })],
    ],
  },
  {
    name: "broken-image",
    kinds: [DEPLOYMENTS, REPLICA_SETS],
    steps: [
      ["created", apply(DEPLOYMENTS, workload("web", { replicas: 2, progressDeadlineSeconds: 3 }))],
      [
        "an image that cannot be pulled, beyond the deadline",
        async (stage) => {
          await stage.patch(DEPLOYMENTS, "web", { spec: image("web", "missing") });
          await stage.settle();
          await stage.settle();
        },
      ],
      ["fixed", patch(DEPLOYMENTS, "web", image("web", "3"))],
    ],
  },
  {
    name: "stateful-set",
    kinds: [STATEFUL_SETS, REVISIONS, PODS],
    steps: [
      ["created", apply(STATEFUL_SETS, workload("db", { serviceName: "db", replicas: 3 }))],
      [
        "rolled out to a partition",
        patch(STATEFUL_SETS, "db", { updateStrategy: { rollingUpdate: { partition: 1 } }, ...image("db", "2") }),
      ],
      ["rolled out", patch(STATEFUL_SETS, "db", { updateStrategy: { rollingUpdate: { partition: 0 } } })],
      ["scaled down", patch(STATEFUL_SETS, "db", { replicas: 1 })],
    ],
  },
  {
    name: "daemon-set",
    kinds: [DAEMON_SETS, REVISIONS, PODS],
    steps: [
      ["created", apply(DAEMON_SETS, workload("agent"))],
      ["rolled out", patch(DAEMON_SETS, "agent", image("agent", "2"))],
    ],
  },
  {
    name: "job",
    kinds: [JOBS],
    steps: [
      [
        "done",
        apply(JOBS, {
          metadata: { name: "many" },
          spec: {
            completions: 3,
            parallelism: 2,
            template: template("many", "example.test/many:1", { restartPolicy: "Never" }),
          },
        }),
      ],
    ],
  },
  {
    name: "unschedulable",
    kinds: [PODS],
    steps: [
      [
        "too big",
        apply(PODS, {
          metadata: { name: "big" },
          spec: { containers: [{ name: "c", image: "example.test/c:1", resources: { requests: { cpu: "100" } } }] },
        }),
      ],
      [
        "picky",
        apply(PODS, {
          metadata: { name: "picky" },
          spec: { nodeSelector: { disk: "ssd" }, containers: [{ name: "c", image: "example.test/c:1" }] },
        }),
      ],
      [
        "without its claim",
        apply(PODS, {
          metadata: { name: "lost" },
          spec: {
            volumes: [{ name: "v", persistentVolumeClaim: { claimName: "nothere" } }],
            containers: [{ name: "c", image: "example.test/c:1" }],
          },
        }),
      ],
      [
        "apart",
        apply(
          DEPLOYMENTS,
          workload(
            "spread",
            { replicas: 4 },
            {
              affinity: {
                podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [
                    { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "spread" } } },
                  ],
                },
              },
            },
          ),
        ),
      ],
    ],
  },
  {
    name: "services-and-budgets",
    kinds: [DEPLOYMENTS, REPLICA_SETS, BUDGETS, ENDPOINTS, ENDPOINT_SLICES, QUOTAS],
    steps: [
      [
        "a service without pods",
        apply(SERVICES, {
          metadata: { name: "web" },
          spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
        }),
      ],
      ["pods", apply(DEPLOYMENTS, workload("web", { replicas: 2 }))],
      [
        "a budget",
        apply(BUDGETS, {
          metadata: { name: "web" },
          spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
        }),
      ],
      [
        "a quota",
        apply(QUOTAS, { metadata: { name: "q" }, spec: { hard: { pods: "3", "requests.cpu": "1", services: "2" } } }),
      ],
      ["no pods", patch(DEPLOYMENTS, "web", { replicas: 0 })],
    ],
  },
];
