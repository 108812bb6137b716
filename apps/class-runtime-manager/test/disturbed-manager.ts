import type { Ambient } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { KubeClient } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { createRecordingMeter } from "@oaas/observability/testing";
import { eventually } from "@oaas/testkit";
import { createClassManager } from "../src/controller/class-manager.ts";
import { FACTS } from "./class-lab.ts";
import { faultyTransport, type FaultyTransport } from "./faulty-transport.ts";

/** The controller in this process, on a transport that fails on demand. */
export interface DisturbedManager {
  readonly transport: FaultyTransport;
  /** Looks at a class once more, and resolves when nothing is in hand or in line. */
  look(namespace: string, name: string): Promise<void>;
  /** Resolves when nothing is in hand or in line. */
  idle(): Promise<void>;
  /**
   * Ends it as a kill does: from one call to the next. What the server had been sent by then it has done when this returns; a write that comes
   * later still, after the class is gone, is for the garbage collector, which these tests have not.
   */
  crash(): Promise<void>;
  close(): Promise<void>;
}

/** How much faster time goes for the controller: what takes half a minute takes three seconds. */
const HURRY = 10;

/** Starts it for one namespace; it works when this returns. */
export async function disturbedManager(
  cluster: { readonly kubeconfig: string },
  namespace: string,
  /** Another way to the server than the kubeconfig's. */
  server?: string,
): Promise<DisturbedManager> {
  const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
  const way = server === undefined ? access : { ...access, server };
  const transport = faultyTransport(createUndiciTransport(way, realAmbient));
  const client = new KubeClient({ transport, ambient: realAmbient, deadlineMs: 2_000 });
  const meter = createRecordingMeter();
  const crm = createClassManager({
    client,
    ambient: hurried(realAmbient),
    namespaces: [namespace],
    facts: FACTS,
    identity: "test",
    meter,
  });
  crm.manager.start();
  await eventually(() => crm.manager.isWorking, { timeoutMs: 60_000, what: "the controller to work" });
  const controller = "class-runtime";
  const reconciles = (): number =>
    meter.observations("crm_reconciliation_duration_seconds", { kind: controller }).length;
  const isIdle = (): boolean =>
    (meter.value("kube_controller_active_workers", { controller }) ?? 0) === 0 &&
    crm.manager.controllers.every(({ queueLength }) => queueLength === 0);
  const idle = async (): Promise<void> => {
    await eventually(isIdle, { what: "the controller to have nothing in hand" });
    await crm.events.flush();
  };
  const end = async (): Promise<void> => {
    await crm.manager.stop();
    await client.close();
  };
  return {
    transport,
    idle,
    look: async (where, name) => {
      const before = reconciles();
      for (const each of crm.manager.controllers) each.enqueue({ namespace: where, name });
      await eventually(() => reconciles() > before, { what: "another look" });
      await idle();
    },
    crash: async () => {
      await transport.die();
      await end();
    },
    close: async () => {
      transport.mend();
      await end();
    },
  };
}

/** The same surroundings, but waits are shorter. Dates stay true: others write them too. */
function hurried(ambient: Ambient): Ambient {
  return {
    ...ambient,
    clock: { now: () => ambient.clock.now(), monotonic: () => ambient.clock.monotonic() * HURRY },
    timers: { after: (delayMs, run) => ambient.timers.after(delayMs / HURRY, run) },
  };
}
