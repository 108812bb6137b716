import { defineConfig, env, loggingVariables, tracingVariables, type ConfigOf } from "@oaas/config";

const variables = {
  server: {
    host: env("SERVER_HOST")
      .string()
      .default("127.0.0.1")
      .doc("Address to listen on. The local stack asks nobody who they are: keep it on loopback."),
    port: env("SERVER_PORT").port().default(8080).doc("Port of the package manager; 0 takes a free one."),
  },
  pagePort: env("OAAS_STACK_PAGE_PORT")
    .port()
    .default(8081)
    .doc("Port of the stack's own page, which shows everything that runs; 0 takes a free one."),
  dataDir: env("OAAS_STACK_DATA_DIR")
    .path()
    .default(".oaas/data")
    .doc("Folder of the durable store and of the clusters. Remove it to begin anew; it is made when missing."),
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
  tracing: tracingVariables("oaas-dev-stack"),
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
