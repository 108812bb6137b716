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
    .doc("Folder of the durable store. Remove it to begin anew; it is made when missing."),
  log: loggingVariables(),
  tracing: tracingVariables("oaas-dev-stack"),
};

/** Everything that can be set about the local stack. */
export const devStackConfig = defineConfig({
  title: "OaaS local stack",
  prefixes: ["OAAS_STACK_"],
  variables,
});

export type DevStackConfig = ConfigOf<typeof variables>;
