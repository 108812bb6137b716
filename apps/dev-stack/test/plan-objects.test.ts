import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describeWith, eventually, runCommand, sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startStack, stopStack, type StackProcess } from "./stack-process.ts";

const CASES = sweepSize(6, 100);

/** Class runtimes, their children, and what a manager adds for a namespace that it creates. */
const KINDS = [
  "classruntimes,namespaces,deployments,statefulsets,daemonsets,services,configmaps,poddisruptionbudgets,networkpolicies",
  "horizontalpodautoscalers,jobs,resourcequotas,limitranges",
].join(",");
const HASH = "oaas.io/rendered-hash";

const PACKAGE = {
  name: "planned",
  classes: [
    { key: "Plain", function_bindings: ["read", "write"].map((key) => ({ name: key, function_key: key })) },
    { key: "Stateful", state_spec: {}, function_bindings: [{ name: "read", function_key: "read" }] },
  ],
  functions: ["read", "write"].map((key) => ({ key, provision_config: { container_image: `r.test/${key}:1` } })),
};

const settings = fc.record(
  {
    container_image: fc.constantFrom("r.test/f:1", "r.test/f:2"),
    min_scale: fc.integer({ min: 1, max: 3 }),
    cpu_request: fc.constantFrom("100m", "200m"),
    env: fc.subarray([
      { name: "PLAIN", value: "1" },
      { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "passwords", key: "p", optional: true } } },
    ]),
    readinessProbe: fc.constantFrom({ httpGet: { path: "/ready" } }, { exec: { command: ["true"] } }),
    volumes: fc.constant([{ name: "tmp", emptyDir: {} }]),
  },
  { requiredKeys: ["container_image"], noNullPrototype: true },
);

/** One change of one of four deployments; those with a namespace have their own, which the manager creates. */
const step = fc.record({
  key: fc.constantFrom("plain-a", "plain-b", "stateful-a", "stateful-b"),
  settings,
  templates: fc.constantFrom({}, { edge: "full" }, { edge: "k8s_deployment", cloud: "dev" }),
  clusters: fc.constantFrom(["edge"], ["edge", "cloud"]),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function deploymentOf({ key, settings: given, templates, clusters }: Step) {
  const isStateful = key.startsWith("stateful");
  // The nodes of a state store are not moved by the way.
  const target_clusters: readonly string[] = isStateful ? ["edge", "cloud"] : clusters;
  const env_templates = Object.fromEntries(
    Object.entries(templates).filter(([name]) => target_clusters.includes(name)),
  );
  return {
    key,
    package_name: PACKAGE.name,
    class_key: isStateful ? "Stateful" : "Plain",
    ...(key.endsWith("-b") ? { namespace: `team-${key}` } : {}),
    target_clusters,
    env_templates,
    functions: [{ function_key: "read", provision_config: given }],
  };
}

interface ClusterObjects {
  readonly cluster: string;
  readonly unit_id: string;
  readonly state: string;
  readonly message: string | null;
  readonly objects: readonly { readonly kind: string; readonly name: string; readonly change: string }[];
  readonly counts: Readonly<Record<string, number>>;
}

describeWith(["kubectl"], "objects of a plan", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-plan-objects-"));
  let stack: StackProcess;

  beforeAll(async () => {
    stack = await startStack(path.join(folder, "data"), ["--clusters=2"]);
    await send("/packages", PACKAGE);
  });
  afterAll(async () => {
    if (stack !== undefined) await stopStack(stack, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  async function send<T>(at: string, body: object): Promise<T> {
    const response = await fetch(`${stack.url}/api/v1${at}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as T;
    expect(response.ok, JSON.stringify(answer)).toBe(true);
    return answer;
  }

  async function planObjects(deployment: object): Promise<readonly ClusterObjects[]> {
    const { objects } = await send<{ objects: { clusters: readonly ClusterObjects[] } }>("/plans", {
      deployment,
      objects: true,
    });
    return objects.clusters;
  }

  /** The objects of a deployment in every cluster, as `cluster kind/name`, with their uid and what they were rendered from. */
  async function objectsOf(key: string): Promise<ReadonlyMap<string, readonly [uid: string, content: string]>> {
    const found = await Promise.all(
      stack.clusters.map(async ({ name: cluster, kubeconfig }) => {
        const args = ["--kubeconfig", kubeconfig, "--cache-dir", folder, "get", KINDS, "-A", "-o", "json"];
        const { items } = JSON.parse((await runCommand("kubectl", args)).stdout) as { items: readonly Listed[] };
        const isOf = ({ metadata: { name, namespace, labels = {} } }: Listed): boolean =>
          (labels["oaas.io/owner"] ?? name).startsWith(`${key}-${cluster}`) ||
          [name, namespace].includes(`team-${key}`);
        return items
          .filter((item) => isManaged(item) && isOf(item))
          .map(({ kind, metadata: { name, uid, generation, annotations = {} } }) => {
            const content = kind === "ClassRuntime" ? String(generation) : (annotations[HASH] ?? "");
            return [`${cluster} ${kind}/${name}`, [uid, content]] as const;
          });
      }),
    );
    return new Map(found.flat());
  }

  /** Plans, applies, and compares the announced changes with those that happened. */
  async function applyAsPlanned(planned: Step): Promise<void> {
    const deployment = deploymentOf(planned);
    const before = await objectsOf(planned.key);
    const clusters = await planObjects(deployment);
    await send("/deployments", deployment);
    const announced = clusters.flatMap(({ cluster, unit_id: unit, state, objects, message }) => {
      expect(["rendered", "removed"], message ?? "").toContain(state);
      if (state === "rendered") return objects.map(({ change, kind, name }) => `${change} ${cluster} ${kind}/${name}`);
      return [...before.keys()].flatMap((id) => (id.includes(`/${unit}`) ? [`delete ${id}`] : []));
    });
    await eventually(
      async () => {
        expect(changesBetween(before, await objectsOf(planned.key))).toEqual(announced.toSorted());
        const left = await planObjects(deployment);
        expect(left.map(({ counts }) => ({ ...counts, unchanged: 0 }))).toEqual(left.map(() => NO_CHANGES));
      },
      { timeoutMs: 120_000, what: "the announced changes" },
    );
  }

  test(`are exactly what an apply then creates, changes and deletes, in ${CASES} random cases`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: CASES, maxLength: CASES, size: "max" }), async (steps) => {
        for (const one of steps) await applyAsPlanned(one);
      }),
      { numRuns: 1, endOnFailure: true },
    );
  }, 1_800_000);
});

const NO_CHANGES = { create: 0, update: 0, delete: 0, unchanged: 0, blocked: 0 };

interface Listed {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

function isManaged({ kind, metadata: { labels = {} } }: Listed): boolean {
  return kind === "ClassRuntime" || labels["app.kubernetes.io/managed-by"] === "oprc-crm";
}

function changesBetween(
  before: ReadonlyMap<string, readonly [string, string]>,
  after: ReadonlyMap<string, readonly [string, string]>,
): readonly string[] {
  const changes = [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [was, now] = [before.get(id), after.get(id)];
    if (was === undefined) return [`create ${id}`];
    if (now === undefined) return [`delete ${id}`];
    if (was[0] !== now[0]) return [`replace ${id}`];
    return was[1] === now[1] ? [] : [`update ${id}`];
  });
  return changes.toSorted();
}
