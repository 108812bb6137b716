import { realAmbient } from "@oaas/foundation/real";
import { KubeClient } from "@oaas/kube-runtime";
import { createRecordingMeter } from "@oaas/observability/testing";
import { eventually } from "@oaas/testkit";
import { createClassManager } from "../apps/class-runtime-manager/src/controller/class-manager.ts";
import { CONFIGURED, childrenOf, classOf, idsOf } from "./crm/classes.ts";
import { instantApi } from "./crm/instant-api.ts";
import { percentile } from "./crm/lab.ts";
import type { Bench } from "./harness.ts";
import { cpuMillis } from "./kube/programs/process-figures.ts";
import { scaled } from "./kube/scale.ts";

const WARM_UP = scaled(300);
const CLASSES = scaled(1_000);
const NAMESPACE = "shop";
const PATIENCE_MS = 600_000;
const CEILING = { p50: 3, p99: 20 };

/** CPU time of our code in a reconcile, with an in-memory API and one class at a time. */
export const bench: Bench = {
  name: "crm-reconcile",
  async run(log) {
    const api = instantApi();
    const meter = createRecordingMeter();
    const client = new KubeClient({
      transport: api.transport,
      ambient: realAmbient,
      flow: { perSecond: 1_000_000, burst: 1_000_000, inFlight: 1_000 },
    });
    const ids = idsOf(WARM_UP + CLASSES);
    for (const id of ids)
      api.put(`/apis/oaas.io/v1alpha1/namespaces/${NAMESPACE}/classruntimes/${id}`, classOf(id, NAMESPACE));
    const crm = createClassManager({
      client,
      ambient: realAmbient,
      namespaces: undefined,
      facts: CONFIGURED,
      identity: "bench",
      concurrency: 1,
      meter,
    });
    const took = (): readonly number[] =>
      meter.observations("crm_reconciliation_duration_seconds", { kind: "class-runtime" });
    const idle = (): Promise<unknown> =>
      eventually(
        () => {
          const isAvailable = [...crm.classRuntimes.cache.list()].filter(({ status }) => status?.phase === "available");
          return (
            isAvailable.length === ids.length && crm.manager.controllers.every(({ queueLength }) => queueLength === 0)
          );
        },
        { timeoutMs: PATIENCE_MS, what: "all classes to be available" },
      );
    const atStart = cpuMillis();
    crm.manager.start();
    await idle();
    await crm.events.flush();
    // The first reconcile of a class starts with its object; its children trigger later ones.
    const made = took().slice(WARM_UP, ids.length).map(inMs);
    const before = { count: took().length, writes: api.writes, cpuMs: cpuMillis() };
    log(`${ids.length} classes made in ${before.count} reconciles`);
    for (const controller of crm.manager.controllers)
      for (const id of ids) controller.enqueue({ namespace: NAMESPACE, name: id });
    await eventually(() => took().length >= before.count + ids.length, {
      timeoutMs: PATIENCE_MS,
      what: "another look at all",
    });
    await idle();
    const unchanged = took()
      .slice(before.count + WARM_UP)
      .map(inMs);
    const unchangedCpu = (cpuMillis() - before.cpuMs) / (took().length - before.count);
    const idleWrites = api.writes - before.writes;
    await crm.manager.stop();
    await client.close();
    const children = childrenOf("order-0", NAMESPACE, "").length;
    return {
      title: `Reconciling ${CLASSES} classes of two functions and a state store (${children} children) without an API server's time`,
      measurements: [
        { name: "creating all children, p50", value: percentile(made, 0.5), unit: "ms" },
        { name: "creating all children, p99", value: percentile(made, 0.99), unit: "ms" },
        { name: "reconcile without changes, p50", value: percentile(unchanged, 0.5), unit: "ms" },
        { name: "reconcile without changes, p99", value: percentile(unchanged, 0.99), unit: "ms" },
        {
          name: "CPU time of a class until available",
          value: (before.cpuMs - atStart) / ids.length,
          unit: "ms",
          note: "the API in memory included",
        },
        { name: "CPU time of reconcile without changes", value: unchangedCpu, unit: "ms" },
        { name: "reconciles per class until available", value: before.count / ids.length, unit: "passes" },
      ],
      ratios: [
        {
          name: "budget / p50",
          value: CEILING.p50 / percentile(made, 0.5),
          floor: 1,
          explains: `at most ${CEILING.p50} ms of our own time for a class that is created`,
        },
        {
          name: "budget / p99",
          value: CEILING.p99 / percentile(made, 0.99),
          floor: 1,
          explains: `at most ${CEILING.p99} ms`,
        },
        {
          name: "no writes",
          value: idleWrites === 0 ? 1 : 0,
          floor: 1,
          explains: "1 when another reconcile of every class wrote nothing",
        },
      ],
    };
  },
};

function inMs(seconds: number): number {
  return seconds * 1000;
}
