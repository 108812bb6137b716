import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { DeploymentService } from "@oaas/contracts/grpc";
import { isFault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { RpcChannel, type ChannelTls } from "@oaas/rpc";
import {
  addGatewayKinds,
  addMonitorKinds,
  describeWith,
  eventually,
  makeAuthority,
  makeRunFolder,
  startEtcd,
  startKubernetes,
  startTcpProxy,
  type KubernetesUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { acceptedReports, applyClass, clusterHealth } from "../src/apply-class.ts";
import { Installation, type InstalledPod, type Manifest } from "../src/installed-pods.ts";
import { kustomize, manifestsOf } from "../src/kustomize.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const NAMESPACE = "oaas-system";
const TOKEN = "test-token";
const SLOW = { timeoutMs: 120_000 };

const CRM = "class-runtime-manager";
const SELF_SIGNED = {
  resources: [`${CRM}/base`, "package-manager/sqlite", "data-plane/base"],
  components: [
    `${CRM}/all-namespaces`,
    `${CRM}/self-signed-certificates`,
    `${CRM}/metrics`,
    `${CRM}/reports`,
    "package-manager/same-cluster",
    "package-manager/reports",
    "package-manager/metrics",
  ],
};

const INTERCONNECT = {
  "oprc-interconnect-settings": ["OPRC_ZENOH_PEERS=tcp/127.0.0.1:17447,tls/routers.cloud.example:17447"],
};

/** The variables of each container, also those from ConfigMaps. JSON is compared by its content. */
function containerEnvironments(manifests: readonly Manifest[]): Record<string, Record<string, unknown>> {
  const configMaps = new Map(manifests.map(({ kind, metadata, data }) => [`${kind}/${metadata.name}`, data ?? {}]));
  const valueOf = (value = ""): unknown => (value.startsWith("{") ? JSON.parse(value) : value);
  const containers = manifests.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);
  return Object.fromEntries(
    containers.map((container) => {
      const files = (container.envFrom ?? []).map(({ configMapRef }) =>
        configMaps.get(`ConfigMap/${configMapRef.name}`),
      );
      const own = (container.env ?? []).map(({ name, value }) => [name, value] as const);
      const all = [...files.flatMap((data) => Object.entries(data ?? {})), ...own];
      return [container.name, Object.fromEntries(all.map(([name, value]) => [name, valueOf(value)]))];
    }),
  );
}

/** The CRD of class runtimes of a release that did not have a field of their spec. */
async function crdWithout(field: string): Promise<string> {
  const crd = parse(await readFile(path.join(ROOT, "deploy", "crds", "classruntimes.oaas.io.yaml"), "utf8")) as {
    spec: { versions: [{ schema: { openAPIV3Schema: { properties: { spec: { properties: object } } } } }] };
  };
  const [version] = crd.spec.versions;
  Reflect.deleteProperty(version.schema.openAPIV3Schema.properties.spec.properties, field);
  return JSON.stringify(crd);
}

describeWith(
  ["kubernetes", "kwok", "etcd", "prometheus-operator-crds", "gateway-api-crds"],
  "manifests of deploy/",
  () => {
    let cluster: KubernetesUnderTest;
    let folder: RunFolder;
    let manifests: readonly Manifest[];
    let installation: Installation;

    const kubectl = async (args: readonly string[], stdin?: string): Promise<string> => {
      const { stdout, stderr, exitCode } = await cluster.kubectl(args, stdin === undefined ? {} : { stdin });
      if (exitCode !== 0) throw new Error(stderr);
      return stdout;
    };
    const secret = (name: string, data: Readonly<Record<string, string>>): Promise<string> =>
      kubectl(
        ["apply", "--server-side", "--force-conflicts", "-n", NAMESPACE, "-f", "-"],
        JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: data }),
      );
    const dataOf = async (name: string, key: string): Promise<string> => {
      const data = await kubectl([
        "get",
        "secret",
        name,
        "-n",
        NAMESPACE,
        "-o",
        `jsonpath={.data.${key.replace(".", "\\.")}}`,
      ]);
      return Buffer.from(data, "base64").toString();
    };
    const isReady = (pod: InstalledPod): Promise<void> =>
      eventually(async () => expect(await pod.probe("readinessProbe")).toMatchObject({ status: 200 }), {
        ...SLOW,
        what: "readiness",
      });
    const isNotReadyWith = (pod: InstalledPod, reason: RegExp): Promise<void> =>
      eventually(
        async () =>
          expect(await pod.probe("readinessProbe")).toMatchObject({ status: 503, body: expect.stringMatching(reason) }),
        { ...SLOW, what: String(reason) },
      );
    const seesCluster = (pm: InstalledPod): Promise<void> =>
      eventually(async () => expect(await clusterHealth(pm, TOKEN)).toMatch(/"status":"Healthy"/), SLOW);
    const applyManifests = async (): Promise<string> => {
      const file = path.join(folder.path, "manifests.json");
      await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests }));
      const { stderr, exitCode } = await cluster.kubectl([
        ..."apply --server-side --force-conflicts --validate=strict -f".split(" "),
        file,
      ]);
      expect(exitCode, stderr).toBe(0);
      return stderr;
    };

    beforeAll(async () => {
      cluster = await startKubernetes({ controllerManager: true, scheduler: true, kwokNodes: 2 });
      folder = await makeRunFolder("installation");
      await addMonitorKinds(cluster.kubectl);
      await addGatewayKinds(cluster.kubectl);
      manifests = manifestsOf(await kustomize(cluster, folder.path, SELF_SIGNED));
      installation = new Installation({ cluster, folder: folder.path, namespace: NAMESPACE, manifests });
      await kubectl(["apply", "-f", path.join(import.meta.dirname, "..", "src", "storage.yaml")]);
      await kubectl(["create", "namespace", NAMESPACE]);
      const levels = ["enforce", "warn", "audit"].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
      await kubectl(["label", "namespace", NAMESPACE, ...levels]);
      const hash = createHash("sha256").update(TOKEN).digest("hex");
      await secret("oprc-pm-tokens", { tokens: `admin:admin:${hash}\n` });
    });
    afterEach(() => installation.close());
    afterAll(async () => {
      await cluster?.close();
      await folder?.remove();
    });

    test("a class runtime manager without CRDs, or with those of an older release, is not ready, says so, and recovers", async () => {
      expect(await applyManifests()).not.toMatch(/warning/i);
      const crm = await installation.start("oprc-crm");
      await isNotReadyWith(crm, /classruntimes/);
      expect(await crm.probe("startupProbe")).toMatchObject({ status: 200 });
      const crds = path.join(ROOT, "deploy", "crds");
      const files = readdirSync(crds).map((file) => path.join(crds, file));
      const apply = (chosen: readonly string[]): Promise<string> =>
        kubectl(["apply", "--server-side", ...chosen.flatMap((file) => ["-f", file])]);
      // An older release had no kind DeploymentTemplate.
      await apply(files.filter((file) => !file.includes("deploymenttemplates")));
      // The only reason that is left.
      await isNotReadyWith(crm, /"reasons":\["[^"]*deploymenttemplates[^"]*"\]/);
      await apply(files);
      await isReady(crm);
      await crm.stop();

      // An older release had the kind, but not all of its fields.
      await kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], await crdWithout("telemetry"));
      const next = await installation.start("oprc-crm");
      await isNotReadyWith(next, /classruntimes is older than the manager: v1alpha1 does not have \.spec\.telemetry;/);
      await apply(files);
      await isReady(next);
    });

    test("both managers run as installed, connect over mutual TLS, and deploy a class", async () => {
      const pm = await installation.start("oprc-pm");
      const crm = await installation.start("oprc-crm");
      await Promise.all([isReady(pm), isReady(crm)]);
      await seesCluster(pm);
      const applied = await applyClass(folder.path, pm, TOKEN);
      expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("deployment/hello is running") });
      expect(await kubectl(["get", "crt", "-n", "default"])).toMatch(/available/i);
      await eventually(async () => expect(await acceptedReports(pm)).toBeGreaterThan(0), SLOW);
      expect((await fetch(`http://${crm.address}:9088/metrics`)).status).toBe(200);
      // The pods of the cluster have a volume, and were admitted without a warning.
      await kubectl(["-n", NAMESPACE, "rollout", "status", "statefulset/oprc-pm", "--timeout=120s"]);
      expect(await kubectl(["-n", NAMESPACE, "get", "pvc/data-oprc-pm-0", "-o", "jsonpath={.status.phase}"])).toBe(
        "Bound",
      );
      expect(await kubectl(["get", "events", "-n", NAMESPACE])).not.toMatch(/violates PodSecurity/);
    });

    test("the class runtime manager finds the routers of the data plane, each once, for classes of every namespace", async () => {
      await Promise.all(
        ["statefulset/oprc-router", "deployment/oprc-gateway"].map((workload) =>
          kubectl(["-n", NAMESPACE, "rollout", "status", workload, "--timeout=120s"]),
        ),
      );
      const crm = await installation.start("oprc-crm");
      await isReady(crm);
      await eventually(async () => {
        const routers = await kubectl("get crt -n default -o jsonpath={.items[*].status.routers}".split(" "));
        expect(JSON.parse(routers || "[]")).toEqual([
          { service: `oprc-router.${NAMESPACE}.svc.cluster.local`, port: 17_447 },
        ]);
      }, SLOW);
    });

    test("routers and gateways have the same environment by Kustomize and by Helm", async () => {
      const overlay = { resources: ["data-plane/base"], components: ["data-plane/clusters"], settings: INTERCONNECT };
      const byKustomize = containerEnvironments(manifestsOf(await kustomize(cluster, folder.path, overlay)));
      const golden = path.join(import.meta.dirname, "..", "testdata", "oaas-data-plane-edge.golden.yaml");
      const byHelm = containerEnvironments(manifestsOf(await readFile(golden, "utf8")));
      // The example names two other clusters, and a log filter.
      const peers = { OPRC_ZENOH_PEERS: byHelm["interconnect"]?.["OPRC_ZENOH_PEERS"] };
      const log = { OPRC_LOG: byHelm["router"]?.["OPRC_LOG"] };
      expect({
        ...byKustomize,
        router: { ...byKustomize["router"], ...log },
        interconnect: { ...byKustomize["interconnect"], ...peers, ...log },
      }).toEqual(byHelm);
      expect(Object.keys(byHelm).toSorted()).toEqual(["gateway", "interconnect", "router"]);
    });

    test("callers need a certificate of the authority with an accepted name", async () => {
      const crm = await installation.start("oprc-crm");
      await isReady(crm);
      const [ca = "", certificate = "", key = ""] = await Promise.all(
        ["ca.crt", "tls.crt", "tls.key"].map((name) => dataOf("oprc-pm-tls", name)),
      );
      const list = async (tls: ChannelTls): Promise<string> => {
        const channel = new RpcChannel({
          name: "crm",
          address: `${crm.address}:8088`,
          clock: realAmbient.clock,
          tls: { ca, serverName: "oprc-crm", ...tls },
        });
        try {
          await channel.client(DeploymentService).listClassRuntimes({});
          return "accepted";
        } catch (thrown) {
          return isFault(thrown, "unauthenticated") ? "unauthenticated" : "refused";
        } finally {
          channel.close();
        }
      };
      expect(await list({ certificate, key })).toBe("accepted");
      expect(await list({})).toBe("unauthenticated");
      const foreign = makeAuthority("oaas-authority").issue({ commonName: "oprc-pm" });
      expect(await list({ certificate: foreign.certificate, key: foreign.key })).toBe("refused");
      const server = {
        certificate: await dataOf("oprc-crm-tls", "tls.crt"),
        key: await dataOf("oprc-crm-tls", "tls.key"),
      };
      expect(await list(server)).not.toBe("accepted");
    });

    test("a missing Secret, and a missing permission: not ready, with the reason, until it is fixed", async () => {
      const saved = await kubectl(["get", "secret", "oprc-crm-tls", "-n", NAMESPACE, "-o", "json"]);
      await kubectl(["delete", "secret", "oprc-crm-tls", "-n", NAMESPACE]);
      const crm = await installation.start("oprc-crm");
      await isNotReadyWith(crm, /Secret oaas-system\/oprc-crm-tls does not exist/);
      expect(await crm.log()).toContain("Secret oaas-system/oprc-crm-tls does not exist");
      await applyManifests();
      await isReady(crm);
      expect(saved).not.toContain(await dataOf("oprc-crm-tls", "tls.crt"));
      await crm.stop();

      await kubectl(["delete", "rolebinding", "oprc-crm-leader", "-n", NAMESPACE]);
      const denied = await installation.start("oprc-crm");
      await isNotReadyWith(denied, /secrets.*forbidden|forbidden.*secrets/i);
      await applyManifests();
      await isReady(denied);
    });

    test("a wrong authority and an expired certificate of the package manager are reported, and replaced", async () => {
      const crm = await installation.start("oprc-crm");
      await isReady(crm);
      const [certificate = "", key = ""] = await Promise.all(
        ["tls.crt", "tls.key"].map((name) => dataOf("oprc-pm-tls", name)),
      );
      await secret("oprc-pm-tls", {
        "ca.crt": makeAuthority("another").certificate,
        "tls.crt": certificate,
        "tls.key": key,
      });
      const pm = await installation.start("oprc-pm");
      await isReady(pm);
      await eventually(async () => expect(await clusterHealth(pm, TOKEN)).toMatch(/certificate|self.signed/i), SLOW);
      await seesCluster(pm);
      const expired = makeAuthority("oaas-authority", -1);
      const old = expired.issue({ commonName: "oprc-pm" });
      await secret("oprc-pm-tls", { "ca.crt": expired.certificate, "tls.crt": old.certificate, "tls.key": old.key });
      await eventually(async () => expect(await dataOf("oprc-pm-tls", "tls.crt")).not.toBe(old.certificate), SLOW);
      await seesCluster(pm);
    });

    test("an expired certificate of your own is reported by both managers, until its Secret is replaced", async () => {
      const own = {
        resources: [`${CRM}/overlays/full`, "package-manager/sqlite"],
        components: ["package-manager/same-cluster"],
      };
      const owned = manifestsOf(await kustomize(cluster, folder.path, own));
      const ownFolder = await makeRunFolder("own-certificates");
      const installed = new Installation({ cluster, folder: ownFolder.path, namespace: NAMESPACE, manifests: owned });
      const authority = makeAuthority("company");
      const issue = async (commonName: string, from = authority): Promise<void> => {
        const { certificate, key } = from.issue({ commonName, hosts: [commonName] });
        const ca = authority.certificate + (from === authority ? "" : from.certificate);
        await secret(`${commonName}-tls`, { "ca.crt": ca, "tls.crt": certificate, "tls.key": key });
      };
      try {
        await issue("oprc-crm", makeAuthority("company", -1));
        await issue("oprc-pm");
        const crm = await installed.start("oprc-crm");
        await isNotReadyWith(crm, /oprc-crm\/tls\/tls\.crt expired at .*; replace it/);
        expect(
          (await crm.log()).split("\n").filter((line) => line.includes("certificate cannot be used")),
        ).toHaveLength(1);
        const pm = await installed.start("oprc-pm");
        await isReady(pm);
        await eventually(async () => expect(await clusterHealth(pm, TOKEN)).toMatch(/certificate|issuer/i), SLOW);
        await issue("oprc-crm");
        await isReady(crm);
        await seesCluster(pm);
      } finally {
        await installed.close();
        await ownFolder.remove();
      }
    });

    test("a package manager on etcd is not ready while etcd is unreachable, also at its start, and recovers", async () => {
      const etcd = await startEtcd();
      const proxy = await startTcpProxy(Number(new URL(etcd.endpoints[0] ?? "").port));
      const onEtcd = manifestsOf(await kustomize(cluster, folder.path, { resources: ["package-manager/etcd"] }));
      await secret("oprc-pm-etcd", { "ca.crt": makeAuthority("etcd").certificate });
      const installed = new Installation({ cluster, folder: folder.path, namespace: NAMESPACE, manifests: onEtcd });
      try {
        const plain = {
          ETCD_ENDPOINTS: `http://127.0.0.1:${proxy.port}`,
          ETCD_TLS_ENABLED: "false",
          ETCD_CA_CERT_PATH: "",
          ETCD_CLIENT_CERT_PATH: "",
          ETCD_CLIENT_KEY_PATH: "",
        };
        proxy.set("reset");
        const refused = await installed.start("oprc-pm", { ...plain, ETCD_TIMEOUT: "2s" });
        await refused.process.exited;
        const lines = (await refused.log()).trim().split("\n");
        expect(lines.at(-1)).toMatch(/^etcd is not available: /);
        expect(lines.length, "without repeating itself").toBeLessThan(5);
        proxy.set("pass");
        // The kubelet starts the container again.
        const pm = await installed.start("oprc-pm", plain);
        await isReady(pm);
        proxy.set("reset");
        await eventually(async () => expect(await pm.probe("readinessProbe")).toMatchObject({ status: 503 }), SLOW);
        expect((await pm.probe("livenessProbe")).status, "a connection").not.toBe(0);
        proxy.set("pass");
        await isReady(pm);
      } finally {
        await installed.close();
        await proxy.close();
        await etcd.close();
      }
    });

    test.each([
      { resources: ["package-manager/sqlite"] },
      { resources: ["package-manager/etcd"], components: ["package-manager/metrics", "package-manager/same-cluster"] },
      { resources: ["package-manager/sqlite"], components: ["package-manager/ingress"] },
      { resources: ["package-manager/etcd"], components: ["package-manager/http-route"] },
      { resources: [`${CRM}/overlays/full`], components: [`${CRM}/cert-manager`] },
      { resources: ["data-plane/base"], components: ["data-plane/clusters"], settings: INTERCONNECT },
      { resources: ["data-plane/base"], components: ["data-plane/ingress"] },
      { resources: ["data-plane/base"], components: ["data-plane/http-route"] },
    ])("the API server accepts $resources with $components", async (overlay) => {
      const { components } = overlay;
      const built = manifestsOf(await kustomize(cluster, folder.path, overlay));
      // The kinds of cert-manager are not installed here.
      const known = built.filter(({ apiVersion }) => !apiVersion.startsWith("cert-manager"));
      expect(known.some(({ kind }) => kind === "HTTPRoute")).toBe(
        components?.some((name) => name.endsWith("/http-route")) ?? false,
      );
      const { stderr, exitCode } = await cluster.kubectl(
        "apply --server-side --force-conflicts --dry-run=server --validate=strict -f -".split(" "),
        { stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items: known }) },
      );
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      expect(known.length).toBeGreaterThan(4);
    });

    test.each([
      {
        why: "a host with an underscore",
        value: { hostnames: ["oaas_example"] },
        refused: /spec\.hostnames\[0\].*should match/,
      },
      {
        why: "an empty name of a Gateway",
        value: { parentRefs: [{ name: "" }] },
        refused: /spec\.parentRefs\[0\]\.name/,
      },
      {
        why: "a Gateway without a name",
        value: { parentRefs: [{ namespace: "gateways" }] },
        refused: /parentRefs\[0\]\.name: Required/,
      },
      {
        why: "a field that does not exist",
        value: { hostname: "oaas.example" },
        refused: /spec\.hostname: field not declared in schema/,
      },
      {
        why: "a time without a unit",
        value: { rules: [{ backendRefs: [{ name: "oprc-pm", port: 8080 }], timeouts: { request: "60" } }] },
        refused: /spec\.rules\[0\]\.timeouts\.request/,
      },
      {
        why: "a Service without a port",
        value: { rules: [{ backendRefs: [{ name: "oprc-pm" }] }] },
        refused: /Must have port for Service reference/,
      },
    ])("the Gateway API refuses an HTTPRoute with $why", async ({ value, refused }) => {
      const options = { resources: ["package-manager/sqlite"], components: ["package-manager/http-route"] };
      const route = manifestsOf(await kustomize(cluster, folder.path, options)).find(
        ({ kind }) => kind === "HTTPRoute",
      );
      const { stderr, exitCode } = await cluster.kubectl(
        "apply --server-side --dry-run=server --validate=strict -f -".split(" "),
        { stdin: JSON.stringify({ ...route, spec: { ...route?.spec, ...value } }) },
      );
      expect(stderr).toMatch(refused);
      expect(exitCode).not.toBe(0);
    });
  },
);
