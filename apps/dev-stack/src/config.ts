import { defineConfig, env, loggingVariables, tracingVariables, type ConfigOf } from "@oaas/config";

const variables = {
  server: {
    host: env("SERVER_HOST")
      .string()
      .default("127.0.0.1")
      .doc("Address to listen on. The local stack has no authentication: keep it on loopback."),
    port: env("SERVER_PORT").port().default(8080).doc("Port to listen on; 0 takes a free one."),
  },
  dataDir: env("OAAS_STACK_DATA_DIR")
    .path()
    .default(".oaas/data")
    .doc("Folder of the durable store and of the cluster. Remove it to begin anew; it is made when missing."),
  noCluster: env("OAAS_STACK_NO_CLUSTER")
    .bool()
    .default(false)
    .alias("NO_CLUSTER")
    .doc("Starts without a Kubernetes cluster, and so without a class runtime manager. As a flag: --no-cluster."),
  cluster: {
    apiPort: env("OAAS_STACK_API_PORT")
      .port()
      .default(0)
      .doc("Port of the cluster's API server; 0 takes that of the last start when it is free, else a free one."),
    managerPort: env("OAAS_STACK_CRM_PORT")
      .port()
      .default(0)
      .doc("Port of the class runtime manager, gRPC and HTTP; 0 takes a free one."),
    nodes: env("OAAS_STACK_NODES")
      .int({ min: 1, max: 100 })
      .default(3)
      .doc("Simulated nodes of the cluster. Fewer than before removes none."),
  },
  log: loggingVariables(),
  tracing: tracingVariables("oaas-dev-stack"),
};

/** Everything that can be set about the local stack. What starts with OPRC_CRM_ or OPRC_ENV_ goes to its class runtime manager. */
export const devStackConfig = defineConfig({
  title: "OaaS local stack",
  prefixes: ["OAAS_STACK_"],
  variables,
});

export type DevStackConfig = ConfigOf<typeof variables>;
