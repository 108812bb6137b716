import { writeFileSync } from "node:fs";
import { get } from "node:https";
import path from "node:path";
import { loadConfig } from "@oaas/config";
import { CrmInfoService, DeploymentService, InspectionService } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import type { ChannelTls } from "@oaas/rpc";
import {
  describeOnTarget,
  eventually,
  kubeTarget,
  makeAuthority,
  makeRunFolder,
  type AuditedRequest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { EMPTY_HISTORY, recordObservation } from "../src/availability/availability-history.ts";
import { crmConfig } from "../src/config.ts";
import { createKubeAvailabilityStore } from "../src/grpc/cluster/kube-availability-store.ts";
import { crdFiles } from "./support/class-cluster.ts";
import { ControllerFixture, classManifest, FACTS } from "./support/controller-fixture.ts";
import { startQuickEnforcer } from "./support/quick-enforcer.ts";
import { startResizingNodes } from "./support/resizing-nodes.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

const DEPLOY = path.resolve(import.meta.dirname, "..", "..", "..", "deploy");
const MANAGER = path.join(DEPLOY, "class-runtime-manager");
const ACCOUNT = "system:serviceaccount:oaas-system:oprc-crm";

/** The embedded API server does not serve pods/resize. */
const CAN_RESIZE = kubeTarget() === "real";

/** Permissions that no request of the test uses, each with the reason. */
const INDIRECTLY_USED: Readonly<Record<string, string>> = {
  "/pods delete": "restarts a node of a state store that answers; no store runs here",
  "/pods/status patch": "sets the shards condition of a node that answers; no store runs here",
  "oaas.io/classruntimes/finalizers update": "checked by the OwnerReferencesPermissionEnforcement admission plugin",
  "oaas.io/deploymentrecords/finalizers update": "checked by the OwnerReferencesPermissionEnforcement admission plugin",
  ...(CAN_RESIZE ? {} : { "/pods/resize patch": "not served by the embedded API server" }),
};

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly rules?: readonly Rule[];
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly containers: readonly Container[];
        readonly volumes?: readonly { readonly secret: { readonly secretName: string; readonly optional?: boolean } }[];
      };
    };
    readonly ingress?: readonly { readonly from: readonly NetworkPeer[] }[];
  };
}

interface NetworkPeer {
  readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

const fn = (over: object) => ({
  function_key: "f",
  provision_config: { container_image: "example.test/fn:1", ...over },
});
/** Classes that together need a child of every kind. */
const OBJECTS: readonly object[] = [
  {
    apiVersion: "oaas.io/v1alpha1",
    kind: "EnvironmentConfig",
    metadata: { name: "default" },
    spec: { kind: "cloud", network_policy: { enabled: true } },
  },
  {
    apiVersion: "oaas.io/v1alpha1",
    kind: "DeploymentTemplate",
    metadata: { name: "scraped" },
    spec: {
      template_type: "Deployment",
      manifests: [
        { apiVersion: "apps/v1", kind: "Deployment" },
        {
          apiVersion: "monitoring.coreos.com/v1",
          kind: "PodMonitor",
          spec: { podMetricsEndpoints: [{ port: "http" }] },
        },
        {
          apiVersion: "keda.sh/v1alpha1",
          kind: "ScaledObject",
          spec: { scaleTargetRef: { name: "{{ function.name }}" }, triggers: [{ type: "cpu" }] },
        },
        { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "{{ class.name }}" } },
        {
          apiVersion: "v1",
          kind: "PersistentVolumeClaim",
          metadata: { name: "{{ class.name }}-data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
        {
          apiVersion: "networking.k8s.io/v1",
          kind: "Ingress",
          metadata: { name: "{{ class.name }}" },
          spec: { defaultBackend: { service: { name: "{{ class.name }}", port: { number: 80 } } } },
        },
      ],
    },
  },
  {
    apiVersion: "oaas.io/v1alpha1",
    kind: "DeploymentTemplate",
    metadata: { name: "by-http" },
    spec: {
      template_type: "Deployment",
      manifests: [
        { apiVersion: "apps/v1", kind: "Deployment" },
        {
          apiVersion: "http.keda.sh/v1alpha1",
          kind: "HTTPScaledObject",
          spec: { hosts: ["{{ function.name }}"], scaleTargetRef: { name: "{{ function.name }}" } },
        },
      ],
    },
  },
  classManifest("plain", { selected_template: "full", state_spec: {} }),
  { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "functions" }, value: 10 },
  classManifest("sets", { selected_template: "statefulset", functions: [fn({ priorityClassName: "functions" })] }),
  classManifest("everywhere", { selected_template: "daemonset" }),
  classManifest("once", { selected_template: "job" }),
  classManifest("by-requests", { selected_template: "knative" }),
  classManifest("own-way", { selected_template: "scraped" }),
  classManifest("by-http", { selected_template: "by-http", functions: [fn({ min_scale: 0 })] }),
  {
    apiVersion: "oaas.io/v1alpha1",
    kind: "DeploymentRecord",
    metadata: { name: "first-design" },
    spec: { selected_template: "dev", function: { image: "example.test/fn:1" } },
  },
];

describeOnTarget("permissions of the service account in deploy/", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let folder: RunFolder;
  const running: ManagerProcess[] = [];

  const kubectl = (command: string, stdin?: string): Promise<string> => fixture.kubectl(command, stdin);
  const apply = (namespace: string, ...objects: readonly object[]): Promise<string> =>
    fixture.apply(namespace, ...objects);
  const manifestsOf = async (kustomization: string): Promise<readonly Manifest[]> => {
    const yaml = await kubectl(`kustomize ${path.join(MANAGER, kustomization)}`);
    const documents = await kubectl("create --dry-run=client --validate=false -o json -f -", yaml);
    // kubectl writes one document after the other.
    return JSON.parse(`[${documents.replaceAll("\n}\n{\n", "\n},\n{\n")}]`) as readonly Manifest[];
  };
  /** The environment of the manager container. */
  const settingsOf = (manifests: readonly Manifest[]): Record<string, string> => {
    const data = manifests.find(({ kind }) => kind === "ConfigMap")?.data;
    const container = manifests.find(({ kind }) => kind === "Deployment")?.spec?.template?.spec.containers[0];
    const own = (container?.env ?? []).map(({ name, value }) => [name, value ?? "oaas-system"] as const);
    return { ...data, ...Object.fromEntries(own) };
  };
  const accountKubeconfig = async (): Promise<string> => {
    const token = (await kubectl("create token oprc-crm -n oaas-system")).trim();
    const file = path.join(folder.path, "account.kubeconfig");
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        { name: "c", cluster: { server: fixture.cluster.url, "certificate-authority": fixture.cluster.caFile } },
      ],
      users: [{ name: "u", user: { token } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u", namespace: "oaas-system" } }],
      "current-context": "x",
    };
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  };
  /** The settings with the files of the container in the folder of the test. */
  const withFiles = (settings: Record<string, string>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, value.replace(/^\/etc\/oprc-crm\/\w+/, folder.path)]),
    );
  const start = async (settings: Record<string, string>, tls?: ChannelTls): Promise<ManagerProcess> => {
    const loopback = { OPRC_CRM_HTTP_HOST: "127.0.0.1", HTTP_PORT: "0" };
    const crm = await startManagerProcess(await accountKubeconfig(), folder.path, { ...settings, ...loopback }, tls);
    running.push(crm);
    return crm;
  };
  /** Enforces the replicas of one class and resizes the pods of another, with the permissions of the account. */
  const enforceWithAccount = async (): Promise<void> => {
    const namespace = "tuned";
    await kubectl(`create namespace ${namespace}`);
    const token = (await kubectl("create token oprc-crm -n oaas-system")).trim();
    const facts = { ...FACTS, enforcement: "full" as const };
    const crm = await fixture.startController({ token, namespaces: [namespace], facts });
    const nodes = startResizingNodes(fixture.createClient(), namespace);
    await apply(namespace, classManifest("web", { enforcement: { mode: "enforce" } }));
    await fixture.waitForPhase(namespace, "web", "available");
    await eventually(async () =>
      expect(
        await kubectl(`get pods -n ${namespace} -o jsonpath={.items[*].status.containerStatuses[0].resources}`),
      ).not.toBe(""),
    );
    const enforcer = startQuickEnforcer(crm, { namespace, name: "web" });
    Object.assign(enforcer.wanted, { target: 2, ...(CAN_RESIZE ? { cpu: 100 } : {}) });
    const cpus = "{.items[*].spec.containers[0].resources.requests.cpu}";
    await eventually(
      async () =>
        expect(await kubectl(`get pods -n ${namespace} -o jsonpath=${cpus}`)).toBe(
          CAN_RESIZE ? "100m 100m" : "50m 50m",
        ),
      { timeoutMs: 90_000, what: "two pods with their CPU" },
    );
    await enforcer.stop();
    await nodes.stop();
    await kubectl(`delete crt --all -n ${namespace} --timeout=150s`);
    await crm.manager.stop();
  };
  /** Stores the measured availability twice, as the leader does every ten minutes; a stale version is rejected. */
  const storeAvailabilityWithAccount = async (): Promise<void> => {
    const token = (await kubectl("create token oprc-crm -n oaas-system")).trim();
    const key = { namespace: "oaas-system", name: "oprc-crm-availability" };
    const store = createKubeAvailabilityStore(fixture.createClient(token), key, realAmbient.clock);
    const { signal } = new AbortController();
    const untilMs = realAmbient.clock.now();
    const observed = { fromMs: untilMs - 60_000, untilMs, isApiUp: true, nodes: { ready: 1, all: 2 }, samples: 2 };
    const history = recordObservation(EMPTY_HISTORY, observed);
    expect(await store.load(signal)).toEqual({ history: EMPTY_HISTORY });
    await store.save(history, undefined, signal);
    const first = await store.load(signal);
    expect(first).toEqual({ history, version: expect.any(String) });
    const later = recordObservation(history, { ...observed, fromMs: untilMs, untilMs: untilMs + 1000 });
    await store.save(later, first.version, signal);
    await expect(store.save(history, first.version, signal)).rejects.toMatchObject({ kind: "conflict" });
    expect(await kubectl(`get configmap ${key.name} -n ${key.namespace} -o jsonpath={.data}`)).toContain("observedMs");
    await kubectl(`patch configmap ${key.name} -n ${key.namespace} --type=merge -p {"data":{"history.json":"{"}}`);
    expect(await store.load(signal)).toMatchObject({ history: EMPTY_HISTORY });
  };
  /** Reads logs for some time. Simulated nodes of a real API server have no kubelet, so it may not answer. */
  const readLogs = async (crm: ManagerProcess, of: { deploymentId: string; namespace: string }): Promise<void> => {
    const signal = AbortSignal.timeout(5000);
    try {
      for await (const { lines } of crm.channel.client(DeploymentService).streamLogs(of, { signal })) {
        expect(lines.length).toBeGreaterThan(0);
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
  };
  const accountRequests = async (): Promise<readonly AuditedRequest[]> =>
    (await fixture.cluster.auditTrail()).filter(({ user }) => user === ACCOUNT);

  beforeAll(async () => {
    fixture = await ControllerFixture.start({
      audit: true,
      crdFiles: [...crdFiles(), path.join(import.meta.dirname, "manifests", "other-projects.crds.yaml")],
    });
    folder = await makeRunFolder("crm-rights");
    await kubectl(`apply --server-side -k ${path.join(MANAGER, "overlays", "full")}`);
  });
  afterEach(async () => void (await Promise.all(running.splice(0).map((crm) => crm.stop()))));
  afterAll(async () => {
    await fixture?.close();
    await folder?.remove();
  });

  describe.each(["dev", "edge", "full"])("overlay %s", (overlay) => {
    test("passes strict validation", async () => {
      await kubectl(`apply --dry-run=server --validate=strict -k ${path.join(MANAGER, "overlays", overlay)}`);
    });

    test("has valid settings", async () => {
      const env = settingsOf(await manifestsOf(`overlays/${overlay}`));
      const config = loadConfig(crmConfig, { env, readFile: () => "s3cret" });
      expect(config.profile).toBe(overlay);
      expect(config.k8s.namespaces).toEqual({ all: true, listed: [] });
      expect(config.leaderElection.namespace).toBe("oaas-system");
    });
  });

  test.each(["dev", "edge", "full"])(
    "overlay %s needs its Secret, and admits package managers only",
    async (overlay) => {
      const manifests = await manifestsOf(`overlays/${overlay}`);
      const { volumes = [] } = manifests.find(({ kind }) => kind === "Deployment")?.spec?.template?.spec ?? {};
      expect(volumes).toMatchObject([
        { secret: { secretName: overlay === "full" ? "oprc-crm-tls" : "oprc-crm-token" } },
      ]);
      expect(volumes[0]?.secret.optional).toBeUndefined();
      const policy = manifests.find(({ kind }) => kind === "NetworkPolicy")?.spec;
      const peers = policy?.ingress?.flatMap(({ from }) => from) ?? [];
      expect(peers).toHaveLength(2);
      for (const { podSelector } of peers)
        expect(podSelector.matchLabels).toEqual({ "app.kubernetes.io/name": "oprc-pm" });
    },
  );

  test("the component invoke allows invocations, and the overlays do not", async () => {
    const overlays = path.relative(folder.path, path.join(MANAGER, "overlays", "dev"));
    const components = [path.relative(folder.path, path.join(MANAGER, "invoke"))];
    writeFileSync(path.join(folder.path, "kustomization.yaml"), JSON.stringify({ resources: [overlays], components }));
    const isGranted = (manifests: readonly Manifest[]): boolean =>
      manifests.some(({ rules = [] }) => rules.some(({ resources }) => resources.includes("services/proxy")));
    const manifests = await manifestsOf(path.relative(MANAGER, folder.path));
    expect(isGranted(manifests)).toBe(true);
    expect(loadConfig(crmConfig, { env: settingsOf(manifests), readFile: () => "s" }).features.invoke).toBe(true);
    for (const overlay of ["dev", "edge", "full"])
      expect(isGranted(await manifestsOf(`overlays/${overlay}`))).toBe(false);
  });

  test("the component create-namespaces allows creating namespaces, and the overlays do not", async () => {
    const overlays = path.relative(folder.path, path.join(MANAGER, "overlays", "dev"));
    const components = [path.relative(folder.path, path.join(MANAGER, "create-namespaces"))];
    writeFileSync(path.join(folder.path, "kustomization.yaml"), JSON.stringify({ resources: [overlays], components }));
    const verbsIn = (manifests: readonly Manifest[], resource: string): readonly string[] =>
      manifests.flatMap(({ rules = [] }) =>
        rules.flatMap(({ resources, verbs }) => (resources.includes(resource) ? verbs : [])),
      );
    const manifests = await manifestsOf(path.relative(MANAGER, folder.path));
    expect(verbsIn(manifests, "namespaces")).toEqual(["get", "create"]);
    expect(verbsIn(manifests, "resourcequotas")).toEqual(["list", "create", "patch", "delete"]);
    const { features } = loadConfig(crmConfig, { env: settingsOf(manifests), readFile: () => "s" });
    expect(features.createNamespaces).toBe(true);
    for (const overlay of ["dev", "edge", "full"])
      expect(verbsIn(await manifestsOf(`overlays/${overlay}`), "namespaces")).toEqual([]);
  });

  test("the component check-secrets allows reading single Secrets, and the overlays do not", async () => {
    const overlays = path.relative(folder.path, path.join(MANAGER, "overlays", "dev"));
    const components = [path.relative(folder.path, path.join(MANAGER, "check-secrets"))];
    writeFileSync(path.join(folder.path, "kustomization.yaml"), JSON.stringify({ resources: [overlays], components }));
    const verbsOf = (manifests: readonly Manifest[]): readonly string[] =>
      manifests.flatMap(({ rules = [] }) =>
        rules.flatMap(({ resources, verbs }) => (resources.includes("secrets") ? verbs : [])),
      );
    expect(verbsOf(await manifestsOf(path.relative(MANAGER, folder.path)))).toEqual(["get"]);
    for (const overlay of ["dev", "edge", "full"])
      expect(verbsOf(await manifestsOf(`overlays/${overlay}`))).toEqual([]);
  });

  test("the component metrics opens the metrics port for Prometheus only, and the overlays do not", async () => {
    const overlays = path.relative(folder.path, path.join(MANAGER, "overlays", "full"));
    const components = [path.relative(folder.path, path.join(MANAGER, "metrics"))];
    const text = JSON.stringify({ namespace: "oaas-system", resources: [overlays], components });
    writeFileSync(path.join(folder.path, "kustomization.yaml"), text);
    const manifests = await manifestsOf(path.relative(MANAGER, folder.path));
    const { metrics, security } = loadConfig(crmConfig, { env: settingsOf(manifests), readFile: () => "s" });
    expect({ metrics, mtls: security.mtls }).toEqual({ metrics: { port: 9088, host: "0.0.0.0" }, mtls: true });
    const policies = manifests.filter(({ kind }) => kind === "NetworkPolicy");
    expect(policies.map(({ metadata, spec }) => [metadata.name, spec?.ingress])).toContainEqual([
      "oprc-crm-metrics",
      [
        {
          from: [
            {
              namespaceSelector: { matchLabels: { "oaas.io/prometheus": "true" } },
              podSelector: { matchLabels: { "app.kubernetes.io/name": "prometheus" } },
            },
          ],
          ports: [{ port: 9088 }],
        },
      ],
    ]);
    await kubectl(`apply --dry-run=server --validate=strict -k ${folder.path}`);
    for (const overlay of ["dev", "edge", "full"])
      expect(settingsOf(await manifestsOf(`overlays/${overlay}`))["OPRC_CRM_METRICS_PORT"]).toBeUndefined();
  });

  test.each(["dev", "edge"])("overlay %s refuses anonymous callers and system namespaces", async (overlay) => {
    writeFileSync(path.join(folder.path, "token"), "pm:deployer:s3cret\n");
    const crm = await start(withFiles(settingsOf(await manifestsOf(`overlays/${overlay}`))));
    const deployments = crm.channel.client(DeploymentService);
    const deploy = (namespace: string, headers: Record<string, string>): Promise<unknown> =>
      deployments
        .deploy({ deploymentUnit: { id: "miner" }, namespace }, { headers })
        .catch((thrown: unknown) => thrown);
    expect(await deploy("kube-system", {})).toMatchObject({ kind: "unauthenticated" });
    expect(await deploy("kube-system", { authorization: "Bearer s3cret" })).toMatchObject({
      kind: "invalid-argument",
      violations: [{ path: "$.namespace" }],
    });
  });

  test("pods of overlay full satisfy the restricted pod standard", async () => {
    await kubectl("wait --for=condition=Available deployment/oprc-crm -n oaas-system --timeout=150s");
  });

  test("the edit and view roles include class runtimes", async () => {
    const isAllowed = (verb: string, role: string): Promise<string> =>
      kubectl(`get clusterrole ${role} -o json`).then((text) => {
        const { rules } = JSON.parse(text) as { rules: readonly Rule[] };
        return String(
          rules.some(({ resources, verbs }) => resources.includes("classruntimes") && verbs.includes(verb)),
        );
      });
    await eventually(async () => expect(await isAllowed("delete", "edit")).toBe("true"));
    await eventually(async () => expect(await isAllowed("watch", "view")).toBe("true"));
    expect(await isAllowed("delete", "view")).toBe("false");
  });

  test("the account has every permission it uses, and no other", async () => {
    const servers = makeAuthority("servers");
    const clients = makeAuthority("clients");
    const server = servers.issue({ commonName: "crm", hosts: ["localhost"] });
    const pm = clients.issue({ commonName: "oprc-pm" });
    const files = { "tls.crt": server.certificate, "tls.key": server.key, "ca.crt": clients.certificate };
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder.path, name), text);
    const manifests = await manifestsOf("overlays/full");
    const crm = await start(withFiles(settingsOf(manifests)), {
      ca: servers.certificate,
      certificate: pm.certificate,
      key: pm.key,
    });
    const probe = async (path: string): Promise<number> =>
      statusWithoutCertificate(crm.port, path, servers.certificate);
    await eventually(async () => (await probe("/readyz")) === 200, { what: "readiness without a certificate" });
    expect(await probe("/metrics")).toBe(403);
    await kubectl("create namespace shop");
    const deployments = crm.channel.client(DeploymentService);

    await apply("shop", ...OBJECTS);
    for (const name of ["plain", "sets", "everywhere", "own-way"])
      await fixture.waitForPhase("shop", name, "available");
    await fixture.waitForPhase("shop", "deploymentrecord/first-design", "available");

    // An autoscaler takes over the replicas of the Deployment and of the StatefulSet.
    const growing = [fn({ min_scale: 3, max_scale: 6 })];
    await apply("shop", classManifest("plain", { selected_template: "full", state_spec: {}, functions: growing }));
    const sets = [fn({ min_scale: 1, max_scale: 4 })];
    await apply("shop", classManifest("sets", { selected_template: "statefulset", functions: sets }));
    await eventually(async () => expect((await kubectl("get hpa -n shop -o name")).trim().split("\n")).toHaveLength(2));

    // Enforcement scales the revision of a Knative Service.
    const revision = "by-requests-00001";
    const enforcement = { mode: "enforce", dimensions: ["replicas"] };
    await apply(
      "shop",
      { apiVersion: "serving.knative.dev/v1", kind: "Revision", metadata: { name: revision } },
      classManifest("by-requests", { selected_template: "knative", enforcement }),
    );
    const patchStatus = (object: string, status: object): Promise<string> =>
      kubectl(`patch ${object} -n shop --subresource=status --type=merge -p ${JSON.stringify({ status })}`);
    await eventually(() => patchStatus("ksvc by-requests", { latestReadyRevisionName: revision }));
    const action = { at: new Date().toISOString(), from: 0, to: 3, lane: "stable", target: 3, verified: true };
    await patchStatus("crt by-requests", {
      enforcement_state: [{ component: "f", dimension: "replicas", last_action: action }],
    });
    await eventually(async () => {
      const { metadata } = JSON.parse(
        await kubectl(`get revisions.serving.knative.dev ${revision} -n shop -o json`),
      ) as {
        metadata: { annotations?: Record<string, string> };
      };
      expect(metadata.annotations).toMatchObject({ "autoscaling.knative.dev/min-scale": "3" });
    });

    // An edited template: the class moves, and the old revision is pruned.
    const revisions = (): Promise<string> => kubectl("get controllerrevisions -n shop -l oaas.io/template -o name");
    const oldRevisions = await revisions();
    const edited = OBJECTS[1] as { readonly spec: object };
    await apply("shop", { ...edited, spec: { ...edited.spec, description: "second edition" } });
    await eventually(async () => {
      expect((await revisions()).trim().split("\n")).toHaveLength(2);
      expect(await revisions()).not.toBe(oldRevisions);
    });

    // Deploy removes a field that was added with kubectl.
    const unit = {
      id: "by-grpc",
      packageName: "shop",
      classKey: "Order",
      functions: [{ functionKey: "run", provisionConfig: { containerImage: "example.test/fn:1" } }],
      selectedTemplate: "dev",
    };
    await deployments.deploy({ deploymentUnit: unit, namespace: "shop" });
    await fixture.waitForPhase("shop", "by-grpc", "available");
    await kubectl(`patch crt by-grpc -n shop --type=merge -p {"spec":{"target_environment":"default"}}`);
    const again = { ...unit, functions: [{ ...unit.functions[0], description: "v2" }] };
    await deployments.deploy({ deploymentUnit: again as typeof unit, namespace: "shop" });

    // Broken and fixed twice: the second event increments the count of the first.
    for (const image of ["missing", "1", "missing", "1"]) {
      await apply(
        "shop",
        classManifest("everywhere", {
          selected_template: "daemonset",
          functions: [fn({ container_image: `example.test/fn:${image}` })],
        }),
      );
      await fixture.waitForPhase("shop", "everywhere", image === "1" ? "available" : "degraded");
    }
    await deployments.explainClassRuntime({ deploymentId: "everywhere", namespace: "shop" });
    const everywhere = { deploymentId: "everywhere", namespace: "shop" };
    await readLogs(crm, everywhere);
    const inspection = crm.channel.client(InspectionService);
    expect((await inspection.listPods(everywhere)).pods).not.toEqual([]);
    expect((await inspection.getConditions(everywhere)).events).not.toEqual([]);
    const read = await inspection.getObject({ ...everywhere, kind: "DaemonSet", name: "everywhere" });
    expect(read.apiVersion).toBe("apps/v1");
    const call = { deploymentId: "everywhere", namespace: "shop", functionKey: "f" };
    await expect(deployments.invokeFunction(call)).rejects.toThrow("OPRC_CRM_FEATURES_INVOKE=true");
    expect(await crm.channel.client(CrmInfoService).getEnvHealth({ env: "" })).toMatchObject({ nodeCount: 2 });
    const usage = crm.channel.client(CrmInfoService).getUsage({});
    await expect(usage).rejects.toThrow("does not serve the metrics API");

    await deployments.deleteDeployment({ deploymentId: "by-grpc", namespace: "shop" });
    await kubectl("delete crt,deploymentrecords --all -n shop --timeout=150s");
    expect(await crm.stop()).toBe(0);
    await enforceWithAccount();
    await storeAvailabilityWithAccount();

    const requests = await accountRequests();
    expect(requests.filter(({ status }) => status === 403)).toEqual([]);
    const used = new Set(requests.flatMap(permissionsOf));
    const granted = manifests.filter(({ metadata }) => metadata.name.startsWith("oprc-crm")).flatMap(grantsOf);
    expect(granted.length).toBeGreaterThan(60);
    expect(granted.filter((permission) => !used.has(permission) && !(permission in INDIRECTLY_USED))).toEqual([]);
    expect(Object.keys(INDIRECTLY_USED).filter((permission) => !granted.includes(permission))).toEqual([]);
  });

  describe("role bindings in single namespaces", () => {
    const LIST = {
      OPRC_CRM_K8S_NAMESPACE: "left,right",
      OPRC_CRM_LEADER_ELECTION_NAMESPACE: "oaas-system",
      OPRC_CRM_ROUTER_NAMESPACE: "oaas-system",
    };
    beforeAll(async () => {
      await kubectl("delete clusterrolebinding oprc-crm");
      for (const namespace of ["left", "right"]) {
        await kubectl(`create namespace ${namespace}`);
        await kubectl(`apply -n ${namespace} -k ${path.join(MANAGER, "in-namespace")}`);
      }
    });

    test("serves the namespaces, and only the list of all pods is forbidden", async () => {
      const before = (await accountRequests()).length;
      const crm = await start(LIST);
      for (const namespace of ["left", "right"]) await apply(namespace, classManifest("plain", { state_spec: {} }));
      for (const namespace of ["left", "right"]) await fixture.waitForPhase(namespace, "plain", "available");
      expect(await crm.channel.client(CrmInfoService).getEnvHealth({ env: "" })).toMatchObject({ nodeCount: 2 });
      await kubectl("delete crt --all -n left --timeout=150s");
      const forbidden = (await accountRequests()).slice(before).filter(({ status }) => status === 403);
      expect(
        new Set(forbidden.map(({ verb, resource, namespace }) => `${verb} ${resource} ${namespace}`.trim())),
      ).toEqual(new Set(["list pods"]));
    });

    test("reports a missing permission in the status and the log, and serves other classes", async () => {
      const role = JSON.parse(await kubectl("get clusterrole oprc-crm -o json")) as { rules: readonly Rule[] };
      const narrow = role.rules.filter(({ resources }) => !resources.includes("jobs"));
      await kubectl("replace -f -", JSON.stringify({ ...role, metadata: { name: "oprc-crm" }, rules: narrow }));
      const crm = await start(LIST);
      await apply("right", classManifest("once", { selected_template: "job" }), classManifest("other", {}));
      await fixture.waitForPhase("right", "other", "available");
      const missing = /cannot (list|patch) resource "jobs" in API group "batch" in the namespace "right"/;
      await eventually(async () => {
        const { status } = JSON.parse(await kubectl("get crt once -n right -o json")) as {
          status?: { reason?: string; message?: string };
        };
        expect(status).toMatchObject({ reason: "Forbidden", message: expect.stringMatching(missing) as string });
      });
      expect(
        (await crm.log()).some(
          (line) => line.level !== "info" && missing.test(JSON.stringify(line).replaceAll('\\"', '"')),
        ),
      ).toBe(true);
    });
  });
});

/** The HTTP status of a request without a client certificate. */
function statusWithoutCertificate(port: number, requestPath: string, ca: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ host: "localhost", port, path: requestPath, ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", reject);
  });
}

/** The permissions that a request used: an apply that created the object also used create. */
function permissionsOf({ group, resource, subresource, verb, status }: AuditedRequest): readonly string[] {
  const target = `${group}/${resource}${subresource === "" ? "" : `/${subresource}`}`;
  return [`${target} ${verb}`, ...(verb === "patch" && status === 201 ? [`${target} create`] : [])];
}

function grantsOf({ rules = [] }: Manifest): readonly string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`))),
  );
}
