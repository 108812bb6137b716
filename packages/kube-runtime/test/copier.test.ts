import { join } from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import {
  describeWith,
  eventually,
  makeRunFolder,
  startKubernetes,
  startProcess,
  type KubernetesUnderTest,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCopier } from "../examples/config-map-copier.ts";
import { KubeClient } from "../src/client/kube-client.ts";
import type { ResourceClient } from "../src/client/resource-client.ts";
import type { Transport } from "../src/client/transport.ts";
import { EVENTS } from "../src/events/event.ts";
import { LEASES } from "../src/leader/lease.ts";
import type { Manager } from "../src/manager/manager.ts";
import { CONFIG_MAPS, realTransport, type ConfigMap } from "./real-client.ts";

describeWith(["kubernetes"], "the example controller on a real API server", () => {
  let cluster: KubernetesUnderTest;
  let transport: Transport;
  let client: KubeClient;
  let maps: ResourceClient<ConfigMap>;
  let manager: Manager;
  const copy = { namespace: "team-a", name: "settings" };
  const kubectl = (...args: string[]): Promise<unknown> => cluster.kubectl(args);

  beforeAll(async () => {
    cluster = await startKubernetes();
    transport = realTransport(cluster);
    client = new KubeClient({ transport, ambient: realAmbient });
    maps = client.resource(CONFIG_MAPS);
    manager = createCopier(transport, realAmbient, "first");
    for (const name of ["team-a", "team-b"]) await kubectl("create", "namespace", name);
    await kubectl("create", "configmap", "settings", "--from-literal=colour=blue");
    manager.start();
    await eventually(() => manager.isWorking, { timeoutMs: 20_000 });
  });
  afterAll(async () => {
    await manager.stop();
    await client.close();
    await cluster.close();
  });

  test("copies annotated ConfigMaps and records an event", async () => {
    await kubectl("annotate", "configmap", "settings", "copier.example.com/copy-to=team-a, team-b");
    await eventually(async () => (await maps.find(copy))?.data?.["colour"] === "blue");
    await eventually(async () => (await maps.find({ ...copy, namespace: "team-b" })) !== undefined);
    await eventually(async () =>
      (await client.resource(EVENTS).list({ namespace: "default" })).items.some((event) => event.reason === "Copied"),
    );
  });

  test("follows the original and repairs changed or deleted copies", async () => {
    await kubectl("patch", "configmap", "settings", "-p", '{"data":{"colour":"red"}}');
    await eventually(async () => (await maps.find(copy))?.data?.["colour"] === "red");
    await kubectl("patch", "configmap", "settings", "-n", "team-a", "-p", '{"data":{"colour":"hacked"}}');
    await eventually(async () => (await maps.find(copy))?.data?.["colour"] === "red");
    await kubectl("delete", "configmap", "settings", "-n", "team-b");
    await eventually(async () => (await maps.find({ ...copy, namespace: "team-b" })) !== undefined);
  });

  test("writes nothing when nothing changes", async () => {
    const before = (await maps.get(copy)).metadata.resourceVersion;
    for (const controller of manager.controllers) controller.enqueue({ namespace: "default", name: "settings" });
    await eventually(() => manager.controllers.every((controller) => controller.queueLength === 0));
    expect((await maps.get(copy)).metadata.resourceVersion).toBe(before);
  });

  test("a second process takes over as soon as the first stops", async () => {
    const second = createCopier(transport, realAmbient, "second");
    second.start();
    await eventually(() => second.readiness().ready);
    expect(second.isWorking).toBe(false);
    await manager.stop();
    manager = second;
    await eventually(() => second.isWorking, { timeoutMs: 10_000 });
    const lease = await client.resource(LEASES).get({ namespace: "default", name: "config-map-copier" });
    expect(lease.spec).toMatchObject({ holderIdentity: "second", leaseTransitions: 1 });
    await kubectl("patch", "configmap", "settings", "-p", '{"data":{"colour":"green"}}');
    await eventually(async () => (await maps.find(copy))?.data?.["colour"] === "green");
  });

  test("deletes the copies before the original", async () => {
    await kubectl("delete", "configmap", "settings", "--wait=false");
    await eventually(async () => (await maps.find({ namespace: "default", name: "settings" })) === undefined);
    expect(await maps.find(copy)).toBeUndefined();
  });

  test("runs by one command and releases its lease on SIGTERM", async () => {
    await manager.stop();
    const folder = await makeRunFolder("copier");
    const copier = await startProcess({
      command: process.execPath,
      args: [join(import.meta.dirname, "../examples/config-map-copier.ts")],
      env: { KUBECONFIG: cluster.kubeconfig },
      cwd: folder.path,
      logFile: join(folder.path, "copier.log"),
    });
    await kubectl("create", "configmap", "again", "--from-literal=a=b");
    await kubectl("annotate", "configmap", "again", "copier.example.com/copy-to=team-b");
    const made = { namespace: "team-b", name: "again" };
    await eventually(async () => (await maps.find(made))?.data?.["a"] === "b", { what: await copier.logTail() });
    expect(await copier.stop(20_000)).toMatchObject({ code: 0 });
    const lease = await client.resource(LEASES).get({ namespace: "default", name: "config-map-copier" });
    expect(lease.spec?.holderIdentity ?? "").toBe("");
    await folder.remove();
  });
});
