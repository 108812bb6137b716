import { defineConfig, env, intKind, loggingVariables, urlKind, type ConfigOf } from "@oaas/config";

/** Where `oaas` looks for a stack when it is not told otherwise. */
export const USUAL = { host: "127.0.0.1", port: 8080, dataDir: ".oaas/data" } as const;

const variables = {
  server: {
    host: env("SERVER_HOST")
      .string()
      .default(USUAL.host)
      .doc("Address to listen on. The local stack asks nobody who they are: keep it on loopback."),
    port: env("SERVER_PORT").port().default(USUAL.port).doc("Port of the package manager; 0 takes a free one."),
  },
  pagePort: env("OAAS_STACK_PAGE_PORT")
    .port()
    .default(8081)
    .doc("Port of the stack's own page, which shows everything that runs; 0 takes a free one."),
  ports: env("OAAS_STACK_PORTS")
    .list(intKind({ min: 0, max: 65_535 }))
    .default([])
    .alias("PORTS")
    .doc(
      "All ports at once, in place of the other port settings. One number: the package manager takes it, the page the next, then the API servers and the class runtime managers; 0 takes free ones. Or up to four, in this order: package manager, page, first API server, first class runtime manager. As a flag: --ports=9000.",
    ),
  dataDir: env("OAAS_STACK_DATA_DIR")
    .path()
    .default(USUAL.dataDir)
    .alias("DATA")
    .doc(
      "Folder of the durable store and of the clusters; it is made when missing. oaas reset begins anew. As a flag: --data=folder.",
    ),
  headless: env("OAAS_STACK_HEADLESS")
    .bool()
    .default(false)
    .alias("HEADLESS")
    .doc("Plain lines in place of the screen, also on a terminal. As a flag: --headless."),
  logs: env("OAAS_STACK_LOGS")
    .bool()
    .default(false)
    .alias("LOGS")
    .doc(
      "Shows the log lines of every component in place of the screen. They are always kept in files of the data folder. As a flag: --logs.",
    ),
  output: env("OAAS_STACK_OUTPUT")
    .oneOf(["text", "json"])
    .default("text")
    .alias("OUTPUT")
    .doc(
      "Without the screen: text for people, or json, one object per line; the last says ready and where everything is.",
    ),
  yes: env("OAAS_STACK_YES")
    .bool()
    .default(false)
    .alias("YES")
    .doc("Installs our kinds in the clusters of --context without asking. As a flag: --yes."),
  etcd: env("OAAS_STACK_ETCD")
    .list(urlKind())
    .default([])
    .alias("ETCD")
    .doc(
      "Addresses of an etcd in which the package manager keeps everything, in place of the file in the data folder. As a flag: --etcd=http://127.0.0.1:2379.",
    ),
  noCluster: env("OAAS_STACK_NO_CLUSTER")
    .bool()
    .default(false)
    .alias("NO_CLUSTER")
    .doc("Starts the package manager alone, without Kubernetes clusters. As a flag: --no-cluster."),
  clusters: {
    real: env("OAAS_STACK_REAL")
      .bool()
      .default(false)
      .alias("REAL")
      .doc(
        "Starts real Kubernetes (API server, controller manager, scheduler, etcd, with KWOK's nodes) in place of the simulated clusters. It is built from source once. As a flag: --real.",
      ),
    count: env("OAAS_STACK_CLUSTERS")
      .int({ min: 1, max: 3 })
      .default(3)
      .alias("CLUSTERS")
      .doc("How many clusters, each with a class runtime manager: edge, cloud, far-edge. As a flag: --clusters=2."),
    contexts: env("OAAS_STACK_CONTEXTS")
      .list()
      .default([])
      .alias("CONTEXT")
      .doc(
        "Contexts of your kubeconfig: existing clusters in place of simulated ones, with a class runtime manager each, run here. Our kinds are installed in them after asking. As a flag, repeatable: --context=a --context=b.",
      ),
    apiPort: env("OAAS_STACK_API_PORT")
      .port()
      .default(0)
      .doc(
        "Port of the first cluster's API server; the others take the ones after it. 0 takes those of the last start when they are free, else free ones.",
      ),
    managerPort: env("OAAS_STACK_CRM_PORT")
      .port()
      .default(0)
      .doc(
        "Port of the first class runtime manager, gRPC and HTTP; the others take the ones after it. 0 takes free ones.",
      ),
    nodes: env("OAAS_STACK_NODES")
      .int({ min: 1, max: 100 })
      .optional()
      .doc(
        "Simulated nodes of each cluster. Without it: edge 2, cloud 3, far-edge 1. Fewer than at the start before removes none.",
      ),
  },
  log: loggingVariables(),
};

/**
 * Everything that can be set about the local stack. What starts with OPRC_CRM_ or OPRC_ENV_ goes to its class runtime managers; what starts
 * with OPRC_PM_, PLANNER_, DEPLOY_ or PACKAGE_ to its package manager.
 */
export const devStackConfig = defineConfig({
  title: "OaaS local stack",
  prefixes: ["OAAS_STACK_"],
  variables,
});

export type DevStackConfig = ConfigOf<typeof variables>;
