import { defineConfig, env, intKind, loggingVariables, tracingVariables, urlKind, type ConfigOf } from "@oaas/config";
import manifest from "../package.json" with { type: "json" };

export const VERSION: string = manifest.version;

/** Defaults that the `oaas` CLI assumes too. */
export const DEFAULTS = { host: "127.0.0.1", port: 8080, dataDir: ".oaas/data" } as const;

const variables = {
  server: {
    host: env("SERVER_HOST")
      .string()
      .default(DEFAULTS.host)
      .doc("Address to listen on. The local stack has no authentication: keep it on loopback."),
    port: env("SERVER_PORT").port().default(DEFAULTS.port).doc("Port of the package manager; 0 selects a free port."),
  },
  pagePort: env("OAAS_STACK_PAGE_PORT")
    .port()
    .default(8081)
    .doc("Port of the status page, which shows all components; 0 selects a free port."),
  ports: env("OAAS_STACK_PORTS")
    .list(intKind({ min: 0, max: 65_535 }))
    .default([])
    .alias("PORTS")
    .doc(
      "All ports at once, instead of the other port settings. One number is the first of consecutive ports for the package manager, the status page, the API servers and the class runtime managers; 0 selects free ports. Or up to four numbers: package manager, status page, first API server, first class runtime manager. As a flag: --ports=9000.",
    ),
  dataDir: env("OAAS_STACK_DATA_DIR")
    .path()
    .default(DEFAULTS.dataDir)
    .alias("DATA")
    .doc(
      "Folder of the durable store and of the clusters; created if missing. oaas reset deletes its content. As a flag: --data=folder.",
    ),
  headless: env("OAAS_STACK_HEADLESS")
    .bool()
    .default(false)
    .alias("HEADLESS")
    .doc("Prints plain lines instead of the screen, also on a terminal. As a flag: --headless."),
  logs: env("OAAS_STACK_LOGS")
    .bool()
    .default(false)
    .alias("LOGS")
    .doc(
      "Prints the logs of all components instead of the screen. Log files are always written to the data folder. As a flag: --logs.",
    ),
  output: env("OAAS_STACK_OUTPUT")
    .oneOf(["text", "json"])
    .default("text")
    .alias("OUTPUT")
    .doc(
      "Output format without the screen: text, or json with one object per line. The last object has the status ready and all addresses.",
    ),
  yes: env("OAAS_STACK_YES")
    .bool()
    .default(false)
    .alias("YES")
    .doc("Installs our CRDs in the clusters of --context without asking. As a flag: --yes."),
  etcd: env("OAAS_STACK_ETCD")
    .list(urlKind())
    .default([])
    .alias("ETCD")
    .doc(
      "Endpoints of an etcd for the package manager's data, instead of the file in the data folder. As a flag: --etcd=http://127.0.0.1:2379.",
    ),
  noCluster: env("OAAS_STACK_NO_CLUSTER")
    .bool()
    .default(false)
    .alias("NO_CLUSTER")
    .doc("Starts the package manager only, without Kubernetes clusters. As a flag: --no-cluster."),
  functions: env("OAAS_STACK_FUNCTIONS")
    .oneOf(["simulated", "local"])
    .default("simulated")
    .alias("FUNCTIONS")
    .doc(
      "How functions run in simulated clusters. simulated: they answer with an echo. local: functions of examples/greeter-service run as programs on this machine, the others are simulated. As a flag: --functions=local.",
    ),
  clusters: {
    real: env("OAAS_STACK_REAL")
      .bool()
      .default(false)
      .alias("REAL")
      .doc(
        "Starts real Kubernetes control planes (API server, controller manager, scheduler, etcd, KWOK nodes) instead of simulated clusters. They are built from source once. As a flag: --real.",
      ),
    node: env("OAAS_STACK_NODE")
      .bool()
      .default(false)
      .doc(
        "Starts one cluster whose nodes are real: kubelet, containerd, kube-proxy and CoreDNS run the images of functions. Needs Linux and root; everything runs in namespaces of its own. As a flag: --node.",
      ),
    images: env("OAAS_STACK_IMAGES")
      .list()
      .default([])
      .alias("IMAGES")
      .doc(
        "Image archives for the real nodes, as written by docker save or in the OCI layout. Their images are used without a registry. As a flag, repeatable: --images=greeter.tar.",
      ),
    count: env("OAAS_STACK_CLUSTERS")
      .int({ min: 1, max: 3 })
      .default(3)
      .alias("CLUSTERS")
      .doc("Number of clusters, each with a class runtime manager: edge, cloud, far-edge. As a flag: --clusters=2."),
    contexts: env("OAAS_STACK_CONTEXTS")
      .list()
      .default([])
      .alias("CONTEXT")
      .doc(
        "Kubeconfig contexts of existing clusters to use instead of simulated clusters. The stack runs a class runtime manager for each and installs our CRDs after confirmation. As a flag, repeatable: --context=a --context=b.",
      ),
    apiPort: env("OAAS_STACK_API_PORT")
      .port()
      .default(0)
      .doc(
        "Port of the API server of the first cluster; the next clusters use the ports after it. 0 selects the ports of the previous start if they are free, else free ports.",
      ),
    managerPort: env("OAAS_STACK_CRM_PORT")
      .port()
      .default(0)
      .doc(
        "Port of the first class runtime manager, gRPC and HTTP; the next ones use the ports after it. 0 selects free ports.",
      ),
    nodes: env("OAAS_STACK_NODES")
      .int({ min: 1, max: 100 })
      .optional()
      .doc(
        "Simulated nodes of each cluster. Default: edge 2, cloud 3, far-edge 1. A lower number than at the previous start removes no nodes. With --node: real nodes, by default one.",
      ),
  },
  log: loggingVariables(),
  tracing: tracingVariables(),
};

/**
 * The settings of the local stack. Variables with the prefix OPRC_CRM_ or OPRC_ENV_ are passed to the class runtime
 * managers, those with OPRC_PM_, PLANNER_, DEPLOY_ or PACKAGE_ to the package manager.
 */
export const devStackConfig = defineConfig({
  title: "OaaS local stack",
  prefixes: ["OAAS_STACK_"],
  variables,
});

export type DevStackConfig = ConfigOf<typeof variables>;
