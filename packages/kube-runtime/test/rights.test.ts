import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import type { CustomResourceDefinition, KubeObject } from "@oaas/kube-core";
import { createRecordingLogger } from "@oaas/observability/testing";
import {
  describeWith,
  eventually,
  makeRunFolder,
  startKubernetes,
  type KubernetesUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Informer } from "../src/cache/informer.ts";
import type { ClusterAccess } from "../src/client/access.ts";
import type { KubeClient } from "../src/client/kube-client.ts";
import type { ResourceClient } from "../src/client/resource-client.ts";
import { resourceType } from "../src/client/resource-type.ts";
import { follow } from "./followed-config-maps.ts";
import { CONFIG_MAPS, configMap, realClient, type ConfigMap } from "./real-client.ts";

const CRDS = resourceType<CustomResourceDefinition & KubeObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  namespaced: false,
});
const WIDGET = { group: "example.com", version: "v1", kind: "Widget" };
const WIDGETS = resourceType<KubeObject>({ ...WIDGET, resource: "widgets", namespaced: true });

describeWith(["kubernetes"], "permissions and kinds that disappear and return on a real API server", () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  let maps: ResourceClient<ConfigMap>;
  let folder: RunFolder;

  beforeAll(async () => {
    cluster = await startKubernetes({ users: [{ name: "reader", token: "tok-reader" }] });
    client = realClient(cluster);
    maps = client.resource(CONFIG_MAPS);
    folder = await makeRunFolder("rights");
    await kubectl("create", "clusterrole", "map-reader", "--verb=get,list,watch", "--resource=configmaps");
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
    await folder.remove();
  });

  const kubectl = async (...args: string[]): Promise<string> => {
    const { stdout, stderr, exitCode } = await cluster.kubectl(args);
    if (exitCode !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  const accessWith = (credentials: ClusterAccess["credentials"]): ClusterAccess => ({
    server: cluster.url,
    tls: { insecure: false, ca: { file: cluster.caFile } },
    credentials,
    namespace: "default",
    origin: "a test",
  });

  test("reports revoked permissions, retries, and recovers when they are restored", async () => {
    const grant = (): Promise<string> =>
      kubectl("create", "clusterrolebinding", "reads", "--clusterrole=map-reader", "--user=reader");
    await grant();
    await maps.create(configMap("default", "before", {}));
    const followed = follow(accessWith({ type: "token", token: "tok-reader" }), "default", { watchSeconds: 1 });
    await followed.caughtUp(maps);
    await kubectl("delete", "clusterrolebinding", "reads");
    await eventually(() => followed.informer.fault?.kind === "permission-denied", {
      what: "the rejection to be logged",
    });
    expect(followed.informer.fault?.message).toContain("reader");
    await maps.create(configMap("default", "meanwhile", {}));
    await maps.delete({ namespace: "default", name: "before" });
    expect(followed.informer.get({ namespace: "default", name: "before" })).toBeDefined();
    await grant();
    await followed.caughtUp(maps);
    expect(followed.informer.fault).toBeUndefined();
    await followed.close();
  });

  test("recovers with the new token file after a service account was deleted and recreated", async () => {
    const file = join(folder.path, "token");
    const makeAccount = async (): Promise<void> => {
      await kubectl("create", "serviceaccount", "robot");
      writeFileSync(file, await kubectl("create", "token", "robot", "--duration=1h"));
    };
    await kubectl(
      "create",
      "clusterrolebinding",
      "robots",
      "--clusterrole=map-reader",
      "--serviceaccount=default:robot",
    );
    await makeAccount();
    const followed = follow(accessWith({ type: "token-file", file }), "default", { watchSeconds: 1 });
    await followed.caughtUp(maps);
    await kubectl("delete", "serviceaccount", "robot");
    await eventually(() => followed.informer.fault?.kind === "unauthenticated", {
      what: "the rejection to be logged",
      timeoutMs: 60_000,
    });
    await maps.create(configMap("default", "after-revocation", {}));
    await makeAccount();
    await followed.caughtUp(maps);
    expect(followed.informer.fault).toBeUndefined();
    await followed.close();
  }, 180_000);

  test("an informer and discovery follow a kind that disappears and returns", async () => {
    const crd = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.example.com" },
      spec: {
        group: WIDGET.group,
        names: { kind: "Widget", plural: "widgets" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    } as const;
    const widgets = client.resource(WIDGETS);
    const widget = (name: string): KubeObject => ({
      apiVersion: "example.com/v1",
      kind: "Widget",
      metadata: { namespace: "default", name },
    });
    const makeKind = async (): Promise<void> => {
      await client.resource(CRDS).create(crd);
      await eventually(() => widgets.list(), { what: "the kind to be served" });
    };
    const logger = createRecordingLogger();
    const informer = new Informer<KubeObject>({
      name: "widgets",
      source: widgets.source(),
      ambient: realAmbient,
      logger: logger.log,
      watch: { backoff: { baseMs: 50, capMs: 500, factor: 2, jitter: 0.5 } },
    });
    const events: string[] = [];
    informer.onChange(({ type, object }) => events.push(`${type} ${object.metadata.name}`));
    informer.start();
    await eventually(() => informer.fault?.kind === "not-found", { what: "the absence to be logged" });
    expect(informer.isSynced).toBe(false);
    expect(await client.discovery.find(WIDGET)).toBeUndefined();

    await makeKind();
    await widgets.create(widget("first"));
    await eventually(() => informer.cache.size === 1);
    expect(await eventually(async () => (await client.discovery.find(WIDGET)) ?? false)).toMatchObject({
      resource: "widgets",
    });

    await client.resource(CRDS).delete({ namespace: "", name: crd.metadata.name });
    await eventually(() => informer.fault?.kind === "not-found", { what: "the loss to be logged" });
    await expect(widgets.list()).rejects.toMatchObject({ kind: "not-found" });
    expect(await client.discovery.find(WIDGET)).toBeUndefined();

    await makeKind();
    await widgets.create(widget("second"));
    await eventually(() => informer.get({ namespace: "default", name: "second" }) !== undefined);
    expect(informer.cache.size).toBe(1);
    expect(informer.fault).toBeUndefined();
    expect(events).toEqual(["added first", "deleted first", "added second"]);
    expect(logger.messages("warn")).toContain("restart watch");
    await informer.stop();
  });
});
