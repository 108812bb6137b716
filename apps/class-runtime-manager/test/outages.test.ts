import { readdirSync } from "node:fs";
import path from "node:path";
import type { KubeClient } from "@oaas/kube-runtime";
import {
  describeWith,
  eventually,
  startKubeTarget,
  startTcpProxy,
  type KubernetesUnderTest,
  type TcpFault,
  type TcpProxy,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLASS_RUNTIMES, CORE_CHILD_KINDS } from "../src/controller/kinds.ts";
import { disturbedManager, type DisturbedManager } from "./disturbed-manager.ts";
import { ask, makeNamespace, mustEqual, straightClient, worldOf, type Wish, type World } from "./world.ts";

const CRDS = path.resolve(import.meta.dirname, "..", "..", "..", "deploy", "crds");
const BEFORE: Wish = { functions: { a: "1", b: "1" }, template: "dev" };
const AFTER: Wish = { functions: { a: "2", b: "1", c: "1" }, template: "statefulset" };
const SERVICES = CORE_CHILD_KINDS.find(({ kind }) => kind === "Service");

/** What happens to the way between the controller and the server while users go on, and how it ends. */
interface Outage {
  readonly why: string;
  readonly begin: (tcp: TcpProxy, crm: DisturbedManager) => () => void;
}

const bytes = (fault: TcpFault) => (tcp: TcpProxy) => {
  tcp.set(fault);
  return () => tcp.set("pass");
};

const OUTAGES: readonly Outage[] = [
  { why: "nothing passes and nobody says so", begin: bytes("swallow") },
  { why: "every connection is reset", begin: bytes("reset") },
  { why: "everything is late", begin: bytes("delay") },
  { why: "connections break inside an answer", begin: bytes("halve") },
  { why: "the caches are behind", begin: (_tcp, crm) => crm.transport.holdWatches() },
  {
    why: "every watch is cut again and again, so that events are missed",
    begin: (_tcp, crm) => {
      const timer = setInterval(() => crm.transport.cutWatches(), 50);
      return () => clearInterval(timer);
    },
  },
  {
    why: "every version has expired",
    begin: (_tcp, crm) => {
      crm.transport.expireWatches();
      return () => undefined;
    },
  },
];

describeWith(["kubernetes"], "outages between the controller and a real API server", () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  let tcp: TcpProxy;
  let wanted: World;

  /** A class that the controller, behind the proxy, has settled on. */
  const settled = async (namespace: string): Promise<DisturbedManager> => {
    await makeNamespace(client, namespace);
    const crm = await disturbedManager(cluster, namespace, `https://127.0.0.1:${tcp.port}`);
    await ask(client, namespace, "order", BEFORE);
    await isSettled(namespace);
    await crm.idle();
    return crm;
  };
  const isSettled = (namespace: string): Promise<unknown> =>
    eventually(async () => {
      const { metadata, status } = await client.resource(CLASS_RUNTIMES).get({ namespace, name: "order" });
      return status?.observedGeneration === metadata.generation;
    });

  beforeAll(async () => {
    cluster = await startKubeTarget({ crdFiles: readdirSync(CRDS).map((file) => path.join(CRDS, file)) });
    client = straightClient(cluster);
    tcp = await startTcpProxy(Number(new URL(cluster.url).port));
    const crm = await settled("undisturbed");
    await ask(client, "undisturbed", "order", AFTER);
    await isSettled("undisturbed");
    await crm.idle();
    wanted = await worldOf(client, "undisturbed");
    await crm.close();
  });
  afterAll(async () => {
    await tcp.close();
    await client.close();
    await cluster.close();
  });

  test.each(OUTAGES)(
    "$why: what was asked meanwhile comes about afterwards, and all is quiet",
    async ({ why, begin }) => {
      const namespace = why.toLowerCase().replaceAll(/[^a-z]+/g, "-");
      const crm = await settled(namespace);
      const end = begin(tcp, crm);
      await ask(client, namespace, "order", AFTER);
      if (SERVICES) await client.resource(SERVICES).delete({ namespace, name: "order-fn-1" });
      end();
      await eventually(async () => mustEqual(await worldOf(client, namespace), wanted), {
        timeoutMs: 90_000,
        what: "the world without an outage",
      });
      await crm.idle();
      crm.transport.forget();
      await crm.look(namespace, "order");
      expect(crm.transport.writes).toEqual([]);
      await crm.close();
    },
  );
});
