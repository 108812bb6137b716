import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { runService } from "@oaas/service-shell";
import { startApp } from "./app.ts";
import { crmConfig } from "./config.ts";
import { VERSION } from "./version.ts";

await runService({
  service: "oprc-crm",
  version: VERSION,
  config: crmConfig,
  start: async (config, { ambient, env, observability, reloadConfig, onConfigChange, configWarnings }) => {
    let current = config;
    onConfigChange((changed) => {
      current = changed;
    });
    const { log, meter, context, tracer } = observability;
    const { kubeconfig, context: kubeContext } = config.k8s;
    const access = loadAccess({
      env,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(kubeContext === undefined ? {} : { context: kubeContext }),
    });
    const { identity, podName } = config.leaderElection;
    const app = await startApp(config, {
      ambient,
      transport: createUndiciTransport(access, ambient),
      intentTransport: createUndiciTransport(access, ambient),
      leaseTransport: createUndiciTransport(access, { ...ambient, connections: 1 }),
      ownNamespace: access.namespace,
      podNamespace: access.podNamespace,
      identity: identity ?? podName ?? `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
      logger: log,
      meter,
      metricsText: (format) => meter.text(format),
      context,
      tracer,
      reread: reloadConfig,
      currentConfig: () => current,
      configWarnings,
    });
    for (const warning of app.warnings) log.warn(warning);
    log.info("class runtime manager listening", {
      host: app.host,
      port: app.port,
      grpc_port: app.grpcPort,
      metrics_port: app.metricsPort,
      cluster: access.server,
      from: access.origin,
    });
    app.ready.then(
      () => log.info("class runtime manager ready"),
      () => undefined,
    );
    return app;
  },
});
