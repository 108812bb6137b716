import type { Ambient } from "@oaas/foundation";
import { digestJson } from "@oaas/foundation/hash";
import type { Logger, Meter } from "@oaas/observability";
import type { CrmConfig } from "../config.ts";
import type { ClassManager } from "../controller/class-manager.ts";
import { CLASS_RUNTIME_KIND, DEPLOYMENT_RECORD_KIND } from "../controller/kinds/class-kind.ts";
import { DEPLOYMENT_RECORDS } from "../controller/kinds/resource-types.ts";
import { environmentQueries } from "../templates/environment/check-queries.ts";
import { Analyzer, type AnalyzedComponent } from "./analysis/analyzer.ts";
import { SignalHistoryReader } from "./history/signal-history.ts";
import { measuredComponents } from "./components/measured-component.ts";
import { ownerLabelValue } from "../templates/index.ts";
import { ClassSource } from "./analysis/class-source.ts";
import type { MetricsProvider } from "./analysis/metrics-provider.ts";
import { analyzerSettings } from "./analysis/settings.ts";
import { Enforcer } from "./enforcer/enforcer.ts";
import type { ComponentFindings } from "./enforcer/policy-input.ts";
import { createForeignScalerFinder } from "../controller/children/foreign-scaler.ts";
import { policySettings } from "./enforcer/settings.ts";

type MeasuringConfig = Pick<CrmConfig, "prometheus" | "analyzer" | "enforcement" | "limits">;

export interface MeasuringOptions {
  readonly config: MeasuringConfig;
  /** The configuration in effect, for the settings of enforcement. */
  readonly currentConfig: () => MeasuringConfig;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly provider: MetricsProvider;
  /** For reads of callers: their failures must not open the circuit breaker of the analyzer. Default: `provider`. */
  readonly historyProvider?: MetricsProvider;
  readonly crm: ClassManager;
  /** The watched namespaces; undefined for all. */
  readonly namespaces: readonly string[] | undefined;
  /** See `AppPorts`. */
  readonly speed?: number;
}

/** Connects analyzer and enforcer: each tick measures all classes, then enforces each. */
export function createMeasuring({
  config,
  currentConfig,
  ambient,
  logger,
  meter,
  provider,
  historyProvider = provider,
  crm,
  namespaces,
  speed = 1,
}: MeasuringOptions): {
  readonly analyzer: Analyzer;
  readonly enforcer: Enforcer;
  readonly history: SignalHistoryReader;
} {
  const { prometheus, analyzer: settings, limits } = config;
  const { children, pods, actingClient: client } = crm;
  const queriesOf = (namespace: string, name: string | undefined) => {
    const environment = crm.templateSources.resolveEnvironment(namespace, name);
    return environment.ok && environment.value ? environmentQueries(environment.value.spec) : undefined;
  };
  const options = { client, children, pods, maxReplicas: limits.maxReplicas, queriesOf };
  const records = crm.informers.view(DEPLOYMENT_RECORDS, namespaces, {}, { isOptional: true });
  const sources = [
    new ClassSource(CLASS_RUNTIME_KIND, crm.classRuntimes, options),
    new ClassSource(DEPLOYMENT_RECORD_KIND, records, options),
  ];
  const { rangeMs, stepMs, rateWindowMs, queries } = prometheus;
  const analysisSettings = analyzerSettings(config, speed);
  const enforcer = new Enforcer({
    ambient,
    logger,
    meter,
    recordEvent: (event) => crm.events.record(event),
    get settings() {
      const { enforcement, limits: currentLimits } = currentConfig();
      return policySettings({ enforcement, analyzer: settings, limits: currentLimits }, speed);
    },
    get isFrozen() {
      return currentConfig().enforcement.frozen;
    },
    get actionsPerMinute() {
      return currentConfig().enforcement.actionsPerMinute;
    },
    maxDataAgeMs: analysisSettings.maxDataAgeMs,
    findForeignScaler: createForeignScalerFinder(client, children),
  });
  const reading = {
    rateWindowMs,
    scheme: prometheus.provider === "otel" ? "opentelemetry" : "prometheus",
    overrides: queries,
  } as const;
  const history = new SignalHistoryReader({
    ...reading,
    provider: historyProvider,
    componentsOf: (object, uid) => {
      const { namespace = "", name } = object.metadata;
      return measuredComponents({
        class: object,
        uid,
        children: children.childrenOf(uid).map((child) => child.object),
        pods: pods.podsOf(namespace, ownerLabelValue(name)),
        maxReplicas: limits.maxReplicas,
        queries: queriesOf(namespace, object.spec.target_environment),
      });
    },
  });
  const analyzer = new Analyzer({
    ...reading,
    provider,
    ambient,
    logger,
    meter,
    everyMs: settings.everyMs,
    rangeMs,
    stepMs,
    settings: analysisSettings,
    minMemoryBytes: settings.minMemoryMib * 1024 * 1024,
    classes: () => {
      const listed = sources.flatMap((source) => [...source.list()]);
      enforcer.retain(new Set(listed.map(({ object }) => object.metadata.uid)));
      return listed;
    },
    recordEvent: (event) => crm.events.record(event),
    onAnalyzed: async ({ measured: { object }, components }, signal) => {
      const one = crm.enforceable(object);
      if (one) await enforcer.enforce(one, components.map(componentFindings), signal);
    },
    onNotMeasured: async ({ object }, signal) => {
      const one = crm.enforceable(object);
      if (one) await enforcer.enforce(one, [], signal);
    },
  });
  return { analyzer, enforcer, history };
}

/** What the enforcer needs of an analyzed component. */
function componentFindings({ measured, analysis, recommendations, samples }: AnalyzedComponent): ComponentFindings {
  const { urgency, badness, dataAgeMs } = analysis;
  return {
    component: measured.component,
    recommendations,
    urgency,
    ...(badness === undefined ? {} : { badness }),
    ...(dataAgeMs === undefined ? {} : { dataAgeMs }),
    digestSamples: () => digestJson(samples),
  };
}
