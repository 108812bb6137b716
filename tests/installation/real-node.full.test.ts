import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describeOnNodes, eventually, freePorts, makeAuthority } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { loadPod, readReport, type LoadReport } from "../real-node/src/load-pod.ts";
import { CHARTS } from "./src/helm.ts";
import { GREETER } from "./src/node-images.ts";
import {
  apiLoadPod,
  ETCD_URL,
  etcdInCluster,
  nodeStorage,
  PROMETHEUS_URL,
  prometheusInCluster,
  tlsSecret,
} from "./src/node-manifests.ts";
import { NAMESPACE, NodePlatform, User } from "./src/node-platform.ts";

const MINUTES = 60_000;
const GUIDE = path.resolve(import.meta.dirname, "..", "..", "docs", "guides", "install.md");
const { version: PRESENT } = parse(await readFile(path.join(CHARTS, "oaas", "Chart.yaml"), "utf8")) as {
  version: string;
};
const NEXT = PRESENT.replace(/\d+$/, (patch) => String(Number(patch) + 1));

await describeOnNodes("the platform on a real node, installed by Helm", suite);

function suite(): void {
  let platform: NodePlatform;
  let user: User;
  /** Commands of the guide, by block. */
  let blocks: readonly string[];

  const connect = async (): Promise<User> =>
    new User(await platform.forward("oprc-pm", 8080), await platform.token(), platform.folder.path);
  const podsOf = async (name: string): Promise<readonly Pod[]> =>
    (await platform.get<{ items: Pod[] }>(`pods -n ${NAMESPACE} -l app.kubernetes.io/name=${name}`)).items;
  const functionPods = async (deployment: string): Promise<readonly Pod[]> => {
    const { items } = await platform.get<{ items: Pod[] }>("pods -n default");
    return items.filter(({ metadata }) => metadata.name.startsWith(`${deployment}-local-`));
  };
  const serviceOf = async (deployment: string): Promise<string> => {
    const [pod] = await functionPods(deployment);
    return `http://${pod?.metadata.labels?.["app"]}.default.svc.cluster.local/greet`;
  };
  const report = async (name: string): Promise<LoadReport> =>
    readReport(await platform.kubectl(["logs", name, "--tail=1"]));
  const startLoad = async (pod: object, name: string): Promise<void> => {
    await platform.apply([pod]);
    await eventually(async () => (await report(name)).ok > 0, { what: "the first answers", timeoutMs: 2 * MINUTES });
  };
  /** Waits for more answers than there are now, so that requests after the present moment are counted. */
  const moreAnswers = async (name: string, count: number): Promise<LoadReport> => {
    const { ok } = await report(name);
    return eventually(
      async () => {
        const now = await report(name);
        expect(now.failed).toEqual([]);
        return now.ok >= ok + count ? now : false;
      },
      { what: `${count} more answers`, timeoutMs: 2 * MINUTES },
    );
  };
  /** Waits until no pod of an earlier revision is left. */
  const untilReplaced = async (version: string): Promise<void> => {
    await eventually(
      async () => {
        const pods = [...(await podsOf("oprc-pm")), ...(await podsOf("oprc-crm"))];
        return pods.length === 4 && pods.every(({ spec }) => spec.containers[0]?.image.endsWith(`:${version}`));
      },
      { what: `the pods of ${version} only`, timeoutMs: 3 * MINUTES },
    );
  };

  beforeAll(async () => {
    const guide = await readFile(GUIDE, "utf8");
    blocks = [...guide.matchAll(/```sh needs a cluster and Helm\n(.*?)```/gs)].map(([, block = ""]) => block);
    platform = await NodePlatform.start({ present: PRESENT, next: NEXT });
    const volume = path.join(platform.folder.path, "volume");
    await mkdir(volume);
    await platform.apply(nodeStorage(volume));
  });
  afterAll(() => platform?.close());

  test("is installed by the commands of the guide, and runs a class", async () => {
    const [install = "", use = ""] = blocks;
    expect(install.trim().split("\n")).toHaveLength(3);
    const startedAt = performance.now();
    const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(0);
    const [port = 0] = await freePorts(1);
    // Another port, because this machine may use 8080; the forward ends with the shell.
    const onPort = use
      .replace("service/oprc-pm 8080 &", `service/oprc-pm ${port}:8080 &\ntrap "kill $!" EXIT`)
      .replace("localhost:8080", `localhost:${port}`);
    const output = await platform.guide(`${install}${onPort}`);
    expect(output).toMatch(/TEST SUITE:\s+oprc-crm-test(?:\n.*)*Phase:\s+Succeeded/);
    expect(output).toMatch(/^local /m);
    expect(output).toContain("package/shop created");
    const installed = seconds();
    user = await connect();
    // The kubelet updates mounted Secrets once a minute, if the certificates were not there at the start of the pod.
    await eventually(async () => /^local +Healthy/m.test(await user.call("cluster", "list")), {
      what: "the cluster to be healthy",
      timeoutMs: 2 * MINUTES,
    });
    expect(await user.apply(greeterClass("hello"))).toContain("deployment/hello is running");
    process.stdout.write(
      `from a fresh API server: ${installed} s to the end of the guide, ${seconds()} s to a class\n`,
    );
    for (const name of ["oprc-pm", "oprc-crm"])
      for (const pod of await podsOf(name))
        expect(pod.status.containerStatuses?.[0]).toMatchObject({ restartCount: 0 });
  });

  test("keeps its data in its volume when the pod of the package manager is replaced", async () => {
    await platform.inNamespace("delete pod oprc-pm-0");
    await platform.inNamespace("rollout status statefulset/oprc-pm --timeout=120s");
    await eventually(async () => (await user.call("deployment", "list")).includes("hello"), { timeoutMs: MINUTES });
  });

  test("prints an answer of a function while requirements scale it on real CPU load", async () => {
    await platform.apply(prometheusInCluster("real-1"));
    await platform.kubectl("-n monitoring rollout status deployment/prometheus --timeout=120s".split(" "));
    const settings = Object.entries(MEASURED).flatMap(([name, value]) => [
      "--set",
      `classRuntimeManager.settings.${name}=${value}`,
    ]);
    const chart = path.join(platform.charts, "oaas");
    await platform.helm.call("upgrade", "oaas", chart, "-n", NAMESPACE, "--reuse-values", "--wait", ...settings);
    await platform.guide(blocks.find((block) => block.includes("permissions.invoke=true")) ?? "the guide has no block");
    await user.apply(greeterClass("scaled", SCALED));
    await startLoad(loadPod("scaling-load", "default", GREETER, await serviceOf("scaled"), 8), "scaling-load");
    await eventually(async () => (await functionPods("scaled")).length >= 2, {
      what: "a second replica",
      timeoutMs: 5 * MINUTES,
    });
    // A manager of before the upgrade may still answer that invocations are not permitted.
    await eventually(
      async () => expect(await user.call("invoke", "scaled", "greet", "--data", "OaaS")).toBe("Hello, OaaS!\n"),
      { timeoutMs: MINUTES },
    );
    const { items } = await platform.get<{ items: { reason: string }[] }>("events -n default");
    expect(items.map(({ reason }) => reason)).toContain("NFRApplied");
    await platform.kubectl(["delete", "pod", "scaling-load", "--wait=false"]);
  });

  test("is uninstalled after its classes", async () => {
    for (const key of (await user.call("deployment", "list", "-o", "name")).trim().split("\n"))
      await user.call("deployment", "delete", key.replace(/^.*\//, ""), "--yes", "--wait");
    await eventually(async () => (await platform.kubectl(["get", "crt", "-A", "-o", "name"])).trim() === "", {
      what: "the end of all classes",
      timeoutMs: MINUTES,
    });
    await platform.helm.call("uninstall", "oaas", "-n", NAMESPACE, "--wait");
    await eventually(async () => (await platform.inNamespace("get pods -o name")).trim() === "", {
      what: "the end of all pods",
      timeoutMs: 2 * MINUTES,
    });
  });

  test("waits for a missing Secret and for etcd, says so in one line, and continues by itself", async () => {
    const authority = makeAuthority("etcd");
    const values = [
      ["storage.type", "etcd"],
      ["storage.etcd.endpoints", `{${ETCD_URL}}`],
      ["storage.etcd.tlsSecret", "pm-etcd"],
      ["storage.etcd.clientCertificate", "true"],
    ].flatMap(([name, value]) => ["--set", `packageManager.${name}=${value}`]);
    const target = ["-n", NAMESPACE, "--create-namespace"];
    await platform.helm.call("install", "oaas", path.join(platform.charts, "oaas"), ...target, ...values);
    const events = (): Promise<string> => platform.inNamespace("get events --field-selector reason=FailedMount");
    await eventually(async () => (await events()).includes('secret "pm-etcd" not found'), {
      what: "the missing Secret in the events of the pod",
      timeoutMs: 2 * MINUTES,
    });

    const client = authority.issue({ commonName: "pm" });
    await platform.apply([tlsSecret({ name: "pm-etcd", namespace: NAMESPACE }, authority, client)]);
    const said = (): Promise<string> => platform.inNamespace("logs -l app.kubernetes.io/name=oprc-pm --tail=20");
    await eventually(async () => /^\{.*etcd.*(?:no connection|not available|unavailable).*\}$/m.test(await said()), {
      what: "a line about etcd in the log",
      timeoutMs: 2 * MINUTES,
    });
    expect(isReady(await podsOf("oprc-pm"))).toBe(false);

    await platform.apply(etcdInCluster(authority));
    await platform.inNamespace("rollout status deployment/oprc-pm --timeout=170s");
    expect(isReady(await podsOf("oprc-pm"))).toBe(true);
    user = await connect();
    await eventually(async () => (await user.call("cluster", "list")).includes("Healthy"), { timeoutMs: MINUTES });
    expect(await user.apply(greeterClass("hello"))).toContain("deployment/hello is running");
  });

  test("fails no request while it is upgraded to the next version and rolled back", async () => {
    const url = `http://oprc-pm.${NAMESPACE}.svc.cluster.local:8080`;
    await startLoad(
      apiLoadPod("api-load", { url, token: await platform.token(), deployment: "hello", pauseMs: 100 }),
      "api-load",
    );
    await startLoad(loadPod("class-load", "default", GREETER, await serviceOf("hello"), 1), "class-load");
    await moreAnswers("api-load", 50);
    await platform.helm.setVersion(platform.charts, PRESENT, NEXT);
    const leader = (): Promise<string> => platform.inNamespace("get lease oprc-crm -o jsonpath={.spec.holderIdentity}");
    const before = await leader();
    const upgrade = ["upgrade", "oaas", path.join(platform.charts, "oaas"), "-n", NAMESPACE, "--reuse-values"];
    const [, during] = await Promise.all([
      platform.helm.call(...upgrade, "--wait", "--timeout", "5m"),
      user.apply(greeterClass("during")),
    ]);
    expect(during).toContain("deployment/during is running");
    await untilReplaced(NEXT);
    const upgraded = await moreAnswers("api-load", 50);
    expect(upgraded).toMatchObject({ failed: [], answers: [PRESENT, NEXT] });
    expect(await leader()).not.toBe(before);
    expect(await user.call("cluster", "list", "-o", "wide")).toMatch(
      new RegExp(`^local .* ${NEXT.replaceAll(".", "\\.")}$`, "m"),
    );
    // The new leader accepts changes.
    expect(await user.apply(greeterClass("after"))).toContain("deployment/after is running");

    await platform.helm.call("rollback", "oaas", "1", "-n", NAMESPACE, "--wait", "--timeout", "5m");
    await untilReplaced(PRESENT);
    const rolledBack = await moreAnswers("api-load", 50);
    expect(rolledBack.failed).toEqual([]);
    const classes = await report("class-load");
    expect(classes.failed).toEqual([]);
    expect(await user.call("deployment", "list")).toMatch(/^after .*\n(?:.*\n)*hello /m);
    process.stdout.write(
      `upgrade: ${upgraded.ok} requests to the package manager, 0 failed; with the rollback ${rolledBack.ok}, 0 failed; ` +
        `${classes.ok} to a class, 0 failed\n`,
    );
  });
}

interface Pod {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    readonly containerStatuses?: readonly { readonly ready: boolean; readonly restartCount: number }[];
  };
}

function isReady(pods: readonly Pod[]): boolean {
  return pods.length > 0 && pods.every(({ status }) => status.containerStatuses?.every(({ ready }) => ready) === true);
}

/** Samples are taken every 5 s, and the load begins at once, so windows are shorter than in production. */
const MEASURED = {
  OPRC_CRM_PROM_URL: PROMETHEUS_URL,
  OPRC_CRM_PROM_RANGE: "45s",
  OPRC_CRM_PROM_STEP: "5s",
  OPRC_CRM_PROM_RATE_WINDOW: "15s",
  OPRC_CRM_ANALYZER_INTERVAL_SECS: "5s",
  OPRC_CRM_FEATURES_NFR_ENFORCEMENT: "true",
  OPRC_CRM_ENFORCEMENT_MODE: "basic",
  OPRC_CRM_ENFORCEMENT_STABILITY_SECS: "15s",
  OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS: "30s",
};

const SCALED = {
  nfr_requirements: { max_latency_ms: 200 },
  enforcement: { mode: "enforce", dimensions: ["replicas"], max_replicas: 3 },
};

/** A package with one function, and its deployment of the same name. */
function greeterClass(name: string, deployment: object = {}): readonly object[] {
  const provision = {
    container_image: GREETER,
    port: 8080,
    need_http2: true,
    cpu_request: "20m",
    memory_request: "64Mi",
  };
  const binding = { name: "greet", function_key: "greet", access_modifier: "PUBLIC", stateless: true };
  return [
    {
      name,
      version: "1.0.0",
      classes: [{ key: "Greeter", function_bindings: [binding] }],
      functions: [{ key: "greet", provision_config: provision }],
    },
    { key: name, package_name: name, class_key: "Greeter", target_clusters: ["local"], ...deployment },
  ];
}
