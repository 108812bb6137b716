import { readFile } from "node:fs/promises";
import path from "node:path";
import { eventually, makeRunFolder, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import { expect } from "vitest";
import { createCliRunner, type CliResult } from "../../../apps/cli/test/cli-runner.ts";
import { crdFiles } from "../../../apps/class-runtime-manager/test/support/class-cluster.ts";
import { startManagerProcess } from "../../../apps/class-runtime-manager/test/support/manager-process.ts";
import { startPm } from "../../../apps/package-manager/test/running-pm.ts";

const EXAMPLE = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "function-pods", "billing.yaml");
const NAMESPACE = "billing";
const TIMEOUT = { timeoutMs: 120_000 };

/** The platform with one real cluster, and the document of the example. */
export interface ExampleUnderTest extends AsyncDisposable {
  readonly kube: KubernetesUnderTest;
  /** The document with images that real Knative does not try to resolve. */
  readonly document: string;
  readonly oaas: (line: string) => Promise<CliResult>;
  readonly kubectl: (line: string) => Promise<string>;
}

/** Starts a real API server with simulated nodes, both managers, and the command line. */
export async function startExample(): Promise<ExampleUnderTest> {
  const stack = new AsyncDisposableStack();
  const folder = await makeRunFolder("function-pods");
  stack.defer(() => folder.remove());
  const kube = await startKubernetes({
    controllerManager: true,
    scheduler: true,
    kwokNodes: 2,
    crdFiles: crdFiles(),
  });
  stack.defer(() => kube.close());
  const kubectl = async (line: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await kube.kubectl(line.split(" "));
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };
  await kubectl(`create namespace ${NAMESPACE}`);
  const crm = await startManagerProcess(kube.kubeconfig, folder.path, {
    OPRC_CRM_CLUSTER_NAME: "cloud",
    OPRC_CRM_K8S_NAMESPACE: NAMESPACE,
    OPRC_CRM_FEATURES_KNATIVE: "true",
    OPRC_CRM_FEATURES_LEADER_ELECTION: "false",
  });
  stack.defer(async () => void (await crm.stop()));
  const pm = await startPm({
    clusters: { cloud: `http://127.0.0.1:${crm.port}` },
    env: { DEPLOY_WAIT: "20s", CRM_HEALTH_CHECK_INTERVAL: "500ms", CRM_HEALTH_CACHE_TTL: "200ms" },
  });
  stack.defer(() => pm.close());
  const run = createCliRunner(folder.path, { OAAS_PM_URL: pm.url });
  const text = (await readFile(EXAMPLE, "utf8")).replaceAll("example.test/", "dev.local/");
  return {
    kube,
    document: text,
    kubectl,
    oaas: (line) => run(line, { input: text }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface KnativeService {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly object[]; readonly volumes: readonly object[] };
    };
  };
}

/** Waits until the manager reports that it can scale to zero. */
export function waitForKnative({ oaas }: ExampleUnderTest): Promise<void> {
  return eventually(
    async () => {
      const { out } = await oaas("cluster health cloud -o json");
      expect(out).toContain('"knative"');
    },
    { ...TIMEOUT, what: "Knative in the health of the cluster" },
  );
}

/** Applies the example and creates what it refers to. Returns its Knative Service. */
export async function applyExample({ oaas, kubectl }: ExampleUnderTest): Promise<KnativeService> {
  const planned = await oaas("plan -f -");
  expect(planned, planned.err).toMatchObject({ code: 0 });
  expect(planned.out).toContain("min_scale 0 is kept, because no availability is stated");
  const applied = await oaas("apply -f -");
  expect(applied.out, applied.err).toContain("deployment/billing created");
  await eventually(
    async () => {
      const { out } = await oaas("explain billing");
      expect(out).toContain("ReferenceMissing");
      expect(out).toContain(
        "ConfigMap invoice-templates (volume templates), Secret billing-database (env DATABASE_URL)",
      );
    },
    { ...TIMEOUT, what: "the missing objects in the explanation" },
  );
  await kubectl(`create secret generic billing-database -n ${NAMESPACE} --from-literal=url=postgres://billing`);
  await kubectl(`create configmap invoice-templates -n ${NAMESPACE} --from-literal=de.txt=Rechnung`);
  const { items } = JSON.parse(await kubectl(`get ksvc -n ${NAMESPACE} -o json`)) as { items: KnativeService[] };
  const [service] = items;
  expect(service?.spec.template.metadata.annotations).toMatchObject({
    "autoscaling.knative.dev/minScale": "0",
    "autoscaling.knative.dev/maxScale": "5",
  });
  const { containers, volumes } = service!.spec.template.spec;
  expect(containers[0]).toMatchObject({
    env: expect.arrayContaining([
      { name: "DATABASE_URL", valueFrom: { secretKeyRef: { name: "billing-database", key: "url" } } },
    ]) as object,
    readinessProbe: { httpGet: { path: "/ready" }, periodSeconds: 2 },
    livenessProbe: { httpGet: { path: "/alive" } },
    volumeMounts: [
      { name: "templates", mountPath: "/etc/invoices", readOnly: true },
      { name: "drafts", mountPath: "/var/drafts" },
    ],
  });
  expect(volumes).toMatchObject([
    { name: "templates", configMap: { name: "invoice-templates" } },
    { name: "drafts", emptyDir: { sizeLimit: "64Mi" } },
  ]);
  return service!;
}

/** Waits until the deployment runs with this many ready and desired replicas. */
export function waitForReplicas({ oaas }: ExampleUnderTest, replicas: string): Promise<void> {
  return eventually(
    async () => {
      const { out } = await oaas("deployment status billing");
      expect(out).toContain("Running");
      expect(out).toContain(replicas);
    },
    { ...TIMEOUT, what: `Running with ${replicas} replicas` },
  );
}

/** Deletes the example; nothing of it is left. */
export async function deleteExample({ oaas, kubectl }: ExampleUnderTest): Promise<void> {
  const deleted = await oaas("delete -f - --yes");
  expect(deleted, deleted.err).toMatchObject({ code: 0 });
  await eventually(async () => expect(await kubectl(`get crt,ksvc,deploy -n ${NAMESPACE} -o name`)).toBe(""), {
    ...TIMEOUT,
    what: "an empty namespace",
  });
}
