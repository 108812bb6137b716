import type { Ambient } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { KubeClient } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { createRecordingMeter } from "@oaas/observability/testing";
import { eventually } from "@oaas/testkit";
import { createClassManager } from "../../src/controller/class-manager.ts";
import { FACTS } from "./controller-fixture.ts";
import { createFaultInjectingTransport, type FaultInjectingTransport } from "./fault-injecting-transport.ts";

/** The controllers in this process, on a transport with fault injection. */
export interface FaultInjectingManager {
  readonly transport: FaultInjectingTransport;
  /** Reconciles a class once and waits until the controllers are idle. */
  reconcileOnce(namespace: string, name: string): Promise<void>;
  /** Waits until no reconcile runs or is queued. */
  waitUntilIdle(): Promise<void>;
  /**
   * Stops the controllers as a kill does: between two calls. Requests that were sent have completed when this returns;
   * a later write would need the garbage collector, which these tests do not run.
   */
  crash(): Promise<void>;
  close(): Promise<void>;
}

/** Acceleration of the clock of the controllers: 30 seconds take 3. */
const SPEED_UP = 10;

/** Starts the controllers for one namespace and waits until they run. */
export async function startFaultInjectingManager(
  cluster: { readonly kubeconfig: string },
  namespace: string,
  /** Server URL that replaces the one of the kubeconfig. */
  server?: string,
): Promise<FaultInjectingManager> {
  const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
  const target = server === undefined ? access : { ...access, server };
  const transport = createFaultInjectingTransport(createUndiciTransport(target, realAmbient));
  const client = new KubeClient({ transport, ambient: realAmbient, deadlineMs: 2_000 });
  const meter = createRecordingMeter();
  const crm = createClassManager({
    client,
    ambient: accelerated(realAmbient),
    namespaces: [namespace],
    facts: FACTS,
    identity: "test",
    meter,
  });
  crm.manager.start();
  await eventually(() => crm.manager.isWorking, { timeoutMs: 60_000, what: "the controllers to run" });
  const controller = "class-runtime";
  const reconciles = (): number =>
    meter.observations("crm_reconciliation_duration_seconds", { kind: controller }).length;
  const isIdle = (): boolean =>
    (meter.value("kube_controller_active_workers", { controller }) ?? 0) === 0 &&
    crm.manager.controllers.every(({ queueLength }) => queueLength === 0);
  const idle = async (): Promise<void> => {
    await eventually(isIdle, { what: "the controllers to be idle" });
    await crm.events.flush();
  };
  const stop = async (): Promise<void> => {
    await crm.manager.stop();
    await client.close();
  };
  return {
    transport,
    waitUntilIdle: idle,
    reconcileOnce: async (where, name) => {
      const before = reconciles();
      for (const each of crm.manager.controllers) each.enqueue({ namespace: where, name });
      await eventually(() => reconciles() > before, { what: "another reconcile" });
      await idle();
    },
    crash: async () => {
      await transport.kill();
      await stop();
    },
    close: async () => {
      transport.clearFault();
      await stop();
    },
  };
}

/** Shortens waits. Wall-clock dates stay correct, since other processes write them too. */
function accelerated(ambient: Ambient): Ambient {
  return {
    ...ambient,
    clock: { now: () => ambient.clock.now(), monotonic: () => ambient.clock.monotonic() * SPEED_UP },
    timers: { after: (delayMs, run) => ambient.timers.after(delayMs / SPEED_UP, run) },
  };
}
