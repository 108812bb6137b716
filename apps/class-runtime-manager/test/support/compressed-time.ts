import type { Ambient } from "@oaas/foundation";
import { realAmbient, realTimers } from "@oaas/foundation/real";
import { createPrometheusClient } from "@oaas/prometheus-client";
import { createUndiciTransport } from "@oaas/prometheus-client/node";
import { loadConfig } from "@oaas/config";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { crmConfig } from "../../src/config.ts";
import type { ClassManager } from "../../src/controller/class-manager.ts";
import { createMeasuring } from "../../src/nfr/measuring.ts";

/** A clock that starts at `startMs` and runs `speed` times as fast as the real one. */
export function compressTime(speed: number, startMs: number): Ambient {
  const start = performance.now();
  return {
    ...realAmbient,
    clock: {
      now: () => startMs + (performance.now() - start) * speed,
      monotonic: () => performance.now() * speed,
    },
    timers: { after: (delayMs, callback) => realTimers.after(delayMs / speed, callback) },
  };
}

/** Short windows of measurements. */
const QUICK = { OPRC_CRM_PROM_STEP: "15s", OPRC_CRM_PROM_RANGE: "5m", OPRC_CRM_PROM_RATE_WINDOW: "1m" };

/** The measuring loop of a manager with the default policy. */
export interface MeasuringLoop {
  stop(): Promise<void>;
}

/** Measures and enforces all classes of a namespace in compressed time, while the controllers run in real time. */
export function startMeasuringLoop(
  crm: ClassManager,
  namespace: string,
  prometheusUrl: string,
  ambient: Ambient,
  settings: Readonly<Record<string, string>> = QUICK,
): MeasuringLoop {
  const config = loadConfig(crmConfig, {
    env: {
      OPRC_CRM_PROM_URL: prometheusUrl,
      ...settings,
      OPRC_CRM_FEATURES_NFR_ENFORCEMENT: "true",
      OPRC_CRM_ENFORCEMENT_MODE: "basic",
    },
  });
  const provider = createPrometheusClient({
    transport: createUndiciTransport({
      clock: realAmbient.clock,
      caFile: undefined,
      certFile: undefined,
      keyFile: undefined,
    }),
    // Timeouts in real time: the server is not faster.
    ambient: realAmbient,
    url: prometheusUrl,
    urlSetting: "OPRC_CRM_PROM_URL",
    headers: () => ({}),
    timeoutMs: 10_000,
  });
  const options = { config, ambient, logger: NOOP_LOGGER, meter: NOOP_METER, provider, crm, namespaces: [namespace] };
  const { analyzer, enforcer } = createMeasuring({ ...options, currentConfig: () => config });
  const stop = new AbortController();
  const done = Promise.all([analyzer.run(stop.signal), enforcer.run(stop.signal)]);
  return {
    stop: async () => {
      stop.abort();
      await done;
      await provider.close();
    },
  };
}
