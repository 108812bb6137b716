import { cancelled, type Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { createRecordingMeter } from "@oaas/observability/testing";
import {
  describeWith,
  eventually,
  startHttpProxy,
  startKubernetes,
  type HttpProxy,
  type KubernetesUnderTest,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createUndiciTransport, loadAccess } from "../src/adapters/index.ts";
import { Informer } from "../src/cache/informer.ts";
import { KubeClient } from "../src/client/kube-client.ts";
import type { RequesterOptions } from "../src/client/requester.ts";
import type { ResourceClient } from "../src/client/resource-client.ts";
import { resourceType } from "../src/client/resource-type.ts";
import { EventRecorder } from "../src/events/recorder.ts";
import { EVENTS } from "../src/events/event.ts";
import { CONFIG_MAPS, configMap, NAMESPACES, realClient, type ConfigMap } from "./real-client.ts";

interface Pod extends KubeObject {
  readonly spec?: object;
}

const PODS = resourceType<Pod>({ group: "", version: "v1", kind: "Pod", resource: "pods", namespaced: true });

describeWith(["kubernetes"], "the client's limits on a real API server", () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  let maps: ResourceClient<ConfigMap>;
  let proxy: HttpProxy;
  const closing: KubeClient[] = [];
  const warnings: string[] = [];

  beforeAll(async () => {
    cluster = await startKubernetes();
    client = realClient(cluster, { onWarning: (text) => warnings.push(text) });
    maps = client.resource(CONFIG_MAPS);
    proxy = await startHttpProxy(cluster);
  });
  afterAll(async () => {
    await Promise.all([client, ...closing].map((each) => each.close()));
    await proxy.close();
    await cluster.close();
  });

  const throughProxy = (options: Partial<RequesterOptions> = {}): ResourceClient<ConfigMap> => {
    const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
    const transport = createUndiciTransport({ ...access, server: proxy.url, tls: { insecure: false } }, realAmbient);
    const made = new KubeClient({ transport, ambient: realAmbient, ...options });
    closing.push(made);
    return made.resource(CONFIG_MAPS);
  };
  const kindOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => "fine",
      (fault: Fault) => fault.kind,
    );

  describe("a busy server", () => {
    test("429 with Retry-After: the write succeeds after the delay", async () => {
      let rejections = 3;
      proxy.set(() =>
        (rejections -= 1) >= 0
          ? { do: "answer", status: 429, body: "slow down", headers: { "retry-after": "1" } }
          : { do: "pass" },
      );
      const meter = createRecordingMeter();
      await throughProxy({ meter }).create(configMap("default", "patient", {}));
      const count = (code: string): number | undefined =>
        meter.value("kube_client_requests_total", { verb: "create", kind: "ConfigMap", code });
      expect([count("429"), count("201")]).toEqual([3, 1]);
    });

    test("repeated 429: fails with the reason within the deadline", async () => {
      proxy.set(() => ({ do: "answer", status: 429, body: "slow down", headers: { "retry-after": "2" } }));
      expect(await kindOf(throughProxy().list({}, { deadlineMs: 1_000 }))).toBe("resource-exhausted");
    });
  });

  test("every call has its own or the client's deadline and can be aborted", async () => {
    proxy.set(() => ({ do: "hang" }));
    const slow = throughProxy({ deadlineMs: 300 });
    const key = { namespace: "default", name: "x" };
    const calls = [
      () => slow.get(key),
      () => slow.list(),
      () => slow.create(configMap("default", "x", {})),
      () => slow.update(configMap("default", "x", {})),
      () => slow.patch(key, "merge", {}),
      () => slow.apply(configMap("default", "x", {}), { fieldManager: "t" }),
      () => slow.delete(key),
      () => slow.deleteCollection({ namespace: "default" }),
      () => slow.getScale(key),
      () => slow.setScale(key, 1),
      () => slow.logs(key),
      () => slow.watch({}, new AbortController().signal),
    ];
    expect(await Promise.all(calls.map((call) => kindOf(call())))).toEqual(calls.map(() => "deadline-exceeded"));
    const caller = new AbortController();
    const result = kindOf(slow.get(key, { signal: caller.signal, deadlineMs: 60_000 }));
    caller.abort(cancelled());
    expect(await result).toBe("cancelled");
  });

  test("limits concurrent calls", async () => {
    // Held at first: fast responses might not overlap.
    proxy.set(() => ({ do: "hang" }));
    proxy.takeMostAtOnce();
    const narrow = throughProxy({ flow: { perSecond: 1000, burst: 1000, inFlight: 3 } });
    const calls = Array.from({ length: 40 }, () => kindOf(narrow.list({ namespace: "default", limit: 1 })));
    await eventually(() => proxy.takeMostAtOnce() === 3, { what: "three concurrent calls" });
    proxy.set(() => ({ do: "pass" }));
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["fine"]));
    expect(proxy.takeMostAtOnce()).toBe(3);
  });

  test("logs each server warning once", async () => {
    const odd = { ...configMap("default", "odd", {}), colour: "red" } as ConfigMap;
    warnings.length = 0;
    await maps.create(odd, { fieldValidation: "Warn", dryRun: true });
    await maps.create(odd, { fieldValidation: "Warn", dryRun: true });
    expect(warnings).toEqual([expect.stringContaining('unknown field "colour"')]);
  });

  describe("dry run", () => {
    const key = { namespace: "default", name: "dry-run" };
    test.each([
      ["update", () => maps.update(configMap("default", "dry-run", { a: "2" }), { dryRun: true })],
      ["patch", () => maps.patch(key, "merge", { data: { a: "2" } }, { dryRun: true })],
      [
        "apply",
        () => maps.apply(configMap("default", "dry-run", { a: "2" }), { fieldManager: "t", force: true, dryRun: true }),
      ],
    ])("of %s returns the result and changes nothing", async (_verb, work) => {
      if (!(await maps.find(key))) await maps.create(configMap("default", "dry-run", { a: "1" }));
      expect((await work()).data).toEqual({ a: "2" });
      expect((await maps.get(key)).data).toEqual({ a: "1" });
    });

    test("of deletions deletes nothing", async () => {
      await maps.delete(key, { dryRun: true });
      await maps.deleteCollection({ namespace: "default" }, { dryRun: true });
      expect(await maps.find(key)).toBeDefined();
    });
  });

  test("watches one object by name from the version that was read", async () => {
    const key = { namespace: "default", name: "watched" };
    const { metadata } = await maps.create(configMap("default", "watched", { n: "0" }));
    const stop = new AbortController();
    const selection = { namespace: "default", fieldSelector: "metadata.name=watched" };
    const events = await maps.watch({ ...selection, resourceVersion: metadata.resourceVersion }, stop.signal);
    await maps.create(configMap("default", "unwatched", {}));
    await maps.patch(key, "merge", { data: { n: "1" } });
    await maps.delete(key);
    const seen: string[] = [];
    for await (const event of events) {
      if (event.type === "BOOKMARK") continue;
      seen.push(`${event.type} ${event.object.metadata.name} ${event.object.data?.["n"]}`);
      if (event.type === "DELETED") break;
    }
    expect(seen).toEqual(["MODIFIED watched 1", "DELETED watched 1"]);
    stop.abort();
  });

  test.each(["rubbish", "999999999"])(
    "an informer recovers from a version the server does not know (%s)",
    async (resourceVersion) => {
      const source = maps.source({ namespace: "default" });
      let spoilt = 0;
      const informer = new Informer<ConfigMap>({
        name: "restored",
        ambient: realAmbient,
        source: {
          list: (query, signal) => source.list(query, signal),
          watch: (query, signal) => {
            // As after the server's store was restored to an earlier state.
            const spoil = query.resourceVersion !== "" && (spoilt += 1) <= 8;
            return source.watch(spoil ? { ...query, resourceVersion } : query, signal);
          },
        },
        watch: { silenceMs: 1_000, watchSeconds: 1, backoff: { baseMs: 10, capMs: 50, factor: 2, jitter: 0.5 } },
      });
      informer.start();
      await informer.synced(AbortSignal.timeout(10_000));
      const name = `after-${resourceVersion}`;
      await eventually(() => spoilt > 2);
      await maps.create(configMap("default", name, {}));
      await eventually(() => informer.get({ namespace: "default", name }) !== undefined, { timeoutMs: 60_000 });
      expect(spoilt).toBeLessThan(30);
      await informer.stop();
    },
  );

  test("logs: empty for a Pod without a node; not found for a missing Pod or container", async () => {
    const pods = client.resource(PODS);
    expect(await kindOf(pods.logs({ namespace: "default", name: "missing" }))).toBe("not-found");
    const spec = { containers: [{ name: "main", image: "example.test/app:1" }] };
    await pods.create({ apiVersion: "v1", kind: "Pod", metadata: { namespace: "default", name: "waiting" }, spec });
    const key = { namespace: "default", name: "waiting" };
    expect(await pods.logs(key, { tailLines: 10 })).toBe("");
    expect(await kindOf(pods.logs(key, { container: "other" }))).toBe("invalid-argument");
  });

  test("the server accepts events of namespaced and cluster-scoped objects, as series", async () => {
    const recorder = new EventRecorder({
      client,
      ambient: realAmbient,
      controller: "example.com/test",
      instance: "test-1",
    });
    const about = [
      { apiVersion: "v1", kind: "Namespace", name: "default" },
      { apiVersion: "v1", kind: "ConfigMap", name: "Odd:Name", namespace: "kube-public", uid: "u" },
    ];
    for (const regarding of about) {
      for (let i = 0; i < 3; i += 1) {
        recorder.record({ type: "Warning", reason: "Tried", action: "Try", note: "ü".repeat(2000), regarding });
        await recorder.flush();
      }
    }
    const { items } = await client.resource(EVENTS).list({ fieldSelector: "reason=Tried" });
    expect(items.map(({ metadata, series }) => [metadata.namespace, series?.count])).toEqual([
      ["default", 3],
      ["kube-public", 3],
    ]);
    const described = await cluster.kubectl([
      "get",
      "events",
      "-n",
      "default",
      "-o",
      "jsonpath={.items[?(@.reason=='Tried')].reason}",
    ]);
    expect(described.stdout).toContain("Tried");
  });

  test("a cluster-scoped kind needs no namespace, and the propagation policy is sent", async () => {
    const namespaces = client.resource(NAMESPACES);
    await namespaces.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "short-lived" } });
    await namespaces.delete({ namespace: "", name: "short-lived" }, { propagation: "Foreground" });
    expect((await namespaces.find({ namespace: "", name: "short-lived" }))?.metadata.deletionTimestamp).toBeDefined();
  });
});
