import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  eventually,
  freePorts,
  makeAuthority,
  makeRunFolder,
  startKubeTarget,
  startPrometheus,
  type PrometheusUnderTest,
} from "@oaas/testkit";
import { startManagerProcess } from "../../../apps/class-runtime-manager/test/support/manager-process.ts";
import { runPm, type PmProcess } from "../../../apps/package-manager/test/pm-process.ts";
import { syntheticSeries } from "./synthetic-series.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const CRDS = path.join(ROOT, "deploy", "crds");

/** Both managers with a cluster, scraped by a real Prometheus with our rules. */
export interface MonitoredPlatform extends AsyncDisposable {
  readonly prometheus: PrometheusUnderTest;
  readonly pm: PmProcess;
  /** Changes the class `web`, so that it is reconciled. */
  changeClass(): Promise<void>;
  /** Changes the deployment `echo`, so that it is planned and rolled out. */
  changeDeployment(): Promise<void>;
}

/** Starts it; a measured class `web` runs in the namespace `team-a`, with synthetic series of a violated latency. */
export async function startMonitoredPlatform(): Promise<MonitoredPlatform> {
  const stack = new AsyncDisposableStack();
  try {
    const folder = await makeRunFolder("monitored");
    stack.defer(() => folder.remove());
    const [pmPort = 0, pmGrpcPort = 0, crmPort = 0, crmMetricsPort = 0] = await freePorts(4);
    const prometheus = stack.use(await startPrometheus({ config: prometheusConfig(pmPort, crmMetricsPort) }));
    await prometheus.write(syntheticSeries(Date.now()));
    const crdFiles = readdirSync(CRDS).map((file) => path.join(CRDS, file));
    const kube = stack.use(
      await startKubeTarget({ controllerManager: true, scheduler: true, kwokNodes: 2, crdFiles }, "embedded"),
    );
    await kube.kubectl(["create", "namespace", "team-a"]);
    const files = writeCertificates(folder.path);
    const pm = stack.use(
      await runPm({
        folder: folder.path,
        env: {
          SERVER_PORT: String(pmPort),
          GRPC_PORT: String(pmGrpcPort),
          STORAGE_TYPE: "memory",
          CRM_CLUSTERS_JSON: JSON.stringify({ east: { url: `https://localhost:${crmPort}`, tls: files.pm } }),
          CRM_HEALTH_CHECK_INTERVAL: "500ms",
          DEPLOY_RECONCILE_INTERVAL: "1s",
          ...TRACED,
        },
      }),
    );
    const crm = await startManagerProcess(kube.kubeconfig, folder.path, {
      HTTP_PORT: String(crmPort),
      OPRC_CRM_METRICS_PORT: String(crmMetricsPort),
      ...TRACED,
      OPRC_CRM_K8S_NAMESPACE: "team-a",
      OPRC_CRM_LEADER_ELECTION_NAMESPACE: "team-a",
      OPRC_CRM_CLUSTER_NAME: "east",
      OPRC_CRM_FEATURES_ODGM: "true",
      OPRC_CRM_ODGM_HEALTH: "true",
      OPRC_CRM_FEATURES_LEADER_ELECTION: "true",
      OPRC_CRM_PM_URL: `http://127.0.0.1:${pmGrpcPort}`,
      OPRC_CRM_PROM_URL: prometheus.url,
      ...files.crm,
      OPRC_CRM_ANALYZER_INTERVAL_SECS: "1",
      OPRC_CRM_FEATURES_NFR_ENFORCEMENT: "true",
      OPRC_CRM_ENFORCEMENT_MODE: "full",
    });
    stack.defer(async () => {
      crm.channel.close();
      await crm.process.stop(0);
    });
    await kube.kubectl(["apply", "-f", "-"], { stdin: JSON.stringify(WEB) });
    await registerEcho(pm);
    await deployEcho(pm);
    const owned = stack.move();
    const changeClass = async (): Promise<void> => {
      await kube.kubectl(["annotate", "classruntime", "web", "-n", "team-a", "--overwrite", `changed=${Date.now()}`]);
    };
    const changeDeployment = (): Promise<void> => deployEcho(pm);
    return { prometheus, pm, changeClass, changeDeployment, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Certificates for mutual TLS from the package manager to the class runtime manager, as settings of both. */
function writeCertificates(folder: string) {
  const authority = makeAuthority("platform");
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const ca = write("ca.crt", authority.certificate);
  const [server, client] = ["oprc-crm", "oprc-pm"].map((commonName) => {
    const { certificate, key } = authority.issue({ commonName, hosts: ["localhost"] });
    return [write(`${commonName}.crt`, certificate), write(`${commonName}.key`, key)] as const;
  });
  return {
    pm: { ca_cert: ca, client_cert: client?.[0], client_key: client?.[1] },
    crm: {
      OPRC_CRM_SECURITY_MTLS: "true",
      OPRC_CRM_SECURITY_TLS_CERT_FILE: server?.[0] ?? "",
      OPRC_CRM_SECURITY_TLS_KEY_FILE: server?.[1] ?? "",
      OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE: ca,
      OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "CN:oprc-pm=deployer",
    },
  };
}

/** Spans are recorded, for exemplars; no one receives them. */
const TRACED = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };

function prometheusConfig(pmPort: number, crmPort: number): Record<string, unknown> {
  const job = (name: string, port: number, labels: Record<string, string>): object => ({
    job_name: name,
    static_configs: [{ targets: [`127.0.0.1:${port}`], labels }],
  });
  return {
    global: { scrape_interval: "500ms", scrape_timeout: "500ms", evaluation_interval: "1s" },
    rule_files: [path.join(ROOT, "deploy/monitoring/prometheus/rules.yaml")],
    scrape_configs: [
      job("oaas-pm", pmPort, { namespace: "oaas" }),
      job("oaas-crm", crmPort, { namespace: "oaas-system", cluster: "east" }),
    ],
  };
}

const WEB = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "ClassRuntime",
  metadata: { name: "web", namespace: "team-a" },
  spec: {
    package_class_key: "shop.Web",
    functions: [{ function_key: "hello", provision_config: { container_image: "example.test/hello:1" } }],
    nfr_requirements: { max_latency_ms: 100, availability: 0.99 },
  },
};

async function registerEcho(pm: PmProcess): Promise<void> {
  const binding = { name: "echo", function_key: "echo", access_modifier: "PUBLIC" };
  const body = {
    name: "echo",
    classes: [{ key: "Echo", function_bindings: [binding] }],
    functions: [{ key: "echo", provision_config: { container_image: "example.test/echo:1" } }],
  };
  await pm.call("POST", "/api/v1/packages", { body });
  await eventually(async () => (await pm.call("GET", "/api/v1/clusters/east/health")).json?.status === "Healthy", {
    timeoutMs: 60_000,
    what: "the health of the cluster",
  });
}

let deployments = 0;

async function deployEcho(pm: PmProcess): Promise<void> {
  const deployment = {
    key: "echo",
    package_name: "echo",
    class_key: "Echo",
    target_clusters: ["east"],
    nfr_requirements: { min_throughput_rps: (deployments += 1) },
  };
  await eventually(
    async () =>
      [200, 201, 202, 409].includes((await pm.call("POST", "/api/v1/deployments", { body: deployment })).status),
    {
      timeoutMs: 60_000,
      what: "the deployment",
    },
  );
}
