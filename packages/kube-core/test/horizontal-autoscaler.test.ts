import { readFile } from "node:fs/promises";
import {
  describeWith,
  eventually,
  probe,
  startKubernetes,
  startMetricsApi,
  sweepSize,
  type KubernetesUnderTest,
  type MetricsApi,
  type PodUsage,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HpaTarget } from "../src/autoscaling/hpa-replicas.ts";
import {
  HPA_SCENARIOS,
  SCENARIO_REQUEST,
  SCENARIO_SETTINGS,
  SCENARIO_SYNC_MS,
  type HpaScenario,
  type HpaStep,
} from "../src/autoscaling/testing/hpa-scenarios.ts";

const FLAGS = [
  `--horizontal-pod-autoscaler-sync-period=${SCENARIO_SYNC_MS}ms`,
  `--horizontal-pod-autoscaler-downscale-stabilization=${SCENARIO_SETTINGS.downscaleStabilizationMs}ms`,
  `--horizontal-pod-autoscaler-cpu-initialization-period=${SCENARIO_SETTINGS.cpuInitializationMs}ms`,
  `--horizontal-pod-autoscaler-initial-readiness-delay=${SCENARIO_SETTINGS.initialReadinessDelayMs}ms`,
];

describeWith(["kubernetes", "etcd", "kwok"], "the autoscaler of the real controller manager", () => {
  let cluster: KubernetesUnderTest;
  let metrics: MetricsApi;
  let ca: string;
  const steps = new Map<string, HpaStep>();

  beforeAll(async () => {
    cluster = await startKubernetes({
      controllerManager: true,
      controllerManagerArgs: FLAGS,
      scheduler: true,
      kwokNodes: 2,
    });
    ca = await readFile(cluster.caFile, "utf8");
    metrics = await startMetricsApi(cluster, (_, selector) => usageOf(selector.replace("app=", "")));
  });
  afterAll(async () => {
    await metrics?.close();
    await cluster?.close();
  });

  const get = async <T>(path: string): Promise<T> => {
    const { body } = await probe(`${cluster.url}${path}`, {
      ca,
      headers: { authorization: `Bearer ${cluster.token}` },
    });
    return JSON.parse(body) as T;
  };

  const usageOf = async (app: string): Promise<PodUsage[]> => {
    const { load, missing = 0 } = steps.get(app) ?? { load: 0, path: [] };
    const { items } = await get<{ items: Pod[] }>(`/api/v1/namespaces/default/pods?labelSelector=app%3D${app}`);
    const running = items.filter(({ metadata, status }) => status.phase === "Running" && !metadata.deletionTimestamp);
    const usages = running.map(({ metadata }) => ({
      pod: metadata.name,
      cpuMillicores: Math.floor(load / running.length),
    }));
    return usages.slice(0, Math.max(usages.length - missing, 0));
  };

  const replicasOf = async (app: string): Promise<number> =>
    (await get<{ spec: { replicas: number } }>(`/apis/apps/v1/namespaces/default/deployments/${app}`)).spec.replicas;

  /** Sets the load and returns each number of replicas until the last expected one has lasted for some syncs. */
  const follow = async (app: string, step: HpaStep): Promise<number[]> => {
    const path: number[] = [];
    let last = await replicasOf(app);
    let changedAt = performance.now();
    steps.set(app, step);
    const isSettled = async (): Promise<boolean> => {
      const replicas = await replicasOf(app);
      if (replicas !== last) {
        path.push(replicas);
        last = replicas;
        changedAt = performance.now();
      }
      const isComplete = path.length >= step.path.length && last === (step.path.at(-1) ?? last);
      return isComplete && performance.now() - changedAt > 2.5 * SCENARIO_SYNC_MS;
    };
    await eventually(isSettled, {
      timeoutMs: 60_000,
      what: `${app} to have ${step.path.at(-1)} replicas`,
    });
    return path;
  };

  test.concurrent.each(HPA_SCENARIOS.slice(0, sweepSize(1, HPA_SCENARIOS.length)))(
    "sets the replicas of the scenario $name",
    async (scenario) => {
      steps.set(scenario.name, { load: SCENARIO_REQUEST / 2, path: [] });
      const list = { apiVersion: "v1", kind: "List", items: [deploymentOf(scenario), autoscalerOf(scenario)] };
      const { exitCode, stderr } = await cluster.kubectl(["apply", "-f", "-"], { stdin: JSON.stringify(list) });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      for (const [index, step] of scenario.steps.entries()) {
        expect(await follow(scenario.name, step), `step ${index}`).toEqual(step.path);
      }
    },
  );
});

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: { readonly phase: string };
}

function deploymentOf({ name }: HpaScenario): object {
  const labels = { app: name };
  const resources = { requests: { cpu: `${SCENARIO_REQUEST}m` } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "main:1", resources }] } },
    },
  };
}

function autoscalerOf({ name, spec }: HpaScenario): object {
  const { target, ...rest } = spec;
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name },
    spec: {
      ...rest,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      metrics: [{ type: "Resource", resource: { name: "cpu", target: metricTargetOf(target) } }],
    },
  };
}

function metricTargetOf(target: HpaTarget): object {
  return "utilization" in target
    ? { type: "Utilization", averageUtilization: target.utilization }
    : { type: "AverageValue", averageValue: `${target.averageValue}m` };
}
