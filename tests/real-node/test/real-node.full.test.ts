import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { oprcData, oprcInvoke } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import { RpcChannel } from "@oaas/rpc";
import { componentFile } from "@oaas/real-components";
import { describeOnNodes, eventually, freePorts, makeRunFolder, runCommand, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { oaas, startStack, stopStack, type StackProcess } from "../../../apps/dev-stack/test/stack-process.ts";
import { loadPod, readReport, type LoadReport } from "../src/load-pod.ts";
import { NEXT_GREETER_IMAGE, STATE_STORE_IMAGE, writeTestImages } from "../src/test-images.ts";

const GREETER = "registry.example.test/greeter:1.0.0";
const MINUTES = 60_000;

await describeOnNodes("a class on real nodes", suite);

function suite(): void {
  let folder: RunFolder;
  let stack: StackProcess;
  const forwards: ChildProcess[] = [];

  const kubectl = async (args: readonly string[], stdin = ""): Promise<string> => {
    const env = { KUBECONFIG: stack.clusters[0]?.kubeconfig ?? "", HOME: folder.path };
    const run = await runCommand(componentFile("kubectl"), args, { env, stdin, timeoutMs: 3 * MINUTES });
    if (run.exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${run.stderr}`);
    return run.stdout;
  };
  const get = async <T>(what: string): Promise<T> =>
    JSON.parse(await kubectl([...`get ${what}`.split(" "), "-o", "json"])) as T;
  const cli = async (...args: readonly string[]): Promise<string> => {
    const run = await oaas(args, { env: { OAAS_PM_URL: stack.url } });
    if (run.exitCode !== 0) throw new Error(`oaas ${args.join(" ")}: ${run.stdout}${run.stderr}`);
    return run.stdout;
  };
  const apply = async (documents: readonly object[]): Promise<string> => {
    const file = `${folder.path}/apply.json`;
    await writeFile(file, documents.map((each) => JSON.stringify(each)).join("\n---\n"));
    return cli("apply", "-f", file, "--wait");
  };
  /** The pods of a function of a class, without those that are being deleted. */
  const podsOf = async (deployment: string, component = "function"): Promise<readonly Pod[]> => {
    const { items } = await get<{ items: readonly Pod[] }>("pods --all-namespaces");
    return items.filter(
      ({ metadata: { name, deletionTimestamp } }) =>
        name.startsWith(`${deployment}-cloud-`) &&
        deletionTimestamp === undefined &&
        name.includes("odgm") === (component === "odgm"),
    );
  };
  const onlyPod = async (deployment: string, component?: string): Promise<Pod> => {
    const [pod, ...others] = await podsOf(deployment, component);
    if (pod === undefined || others.length > 0) throw new Error(`${others.length + 1} pods of ${deployment}`);
    return pod;
  };
  const report = async (name: string): Promise<LoadReport> => readReport(await kubectl(["logs", name, "--tail=1"]));
  const startLoad = async (name: string, url: string, workers: number, payload?: string): Promise<void> => {
    await kubectl(["apply", "-f", "-"], JSON.stringify(loadPod(name, "default", GREETER, url, workers, payload)));
    await eventually(async () => (await report(name)).ok > 0, {
      what: "the first answers",
      timeoutMs: 2 * MINUTES,
    });
  };
  const urlOf = async (deployment: string): Promise<string> => {
    const pod = firstOf(await podsOf(deployment));
    const app = pod.metadata.labels?.["app"] ?? "";
    return `http://${app}.${pod.metadata.namespace}.svc.cluster.local/greet`;
  };

  beforeAll(async () => {
    folder = await makeRunFolder("real-node");
    const images = await writeTestImages(folder.path);
    stack = await startStack(`${folder.path}/data`, ["--node", `--images=${images}`], {
      OAAS_STACK_NODES: "2",
      OPRC_CRM_TEMPLATES_ODGM_IMAGE: STATE_STORE_IMAGE,
      OPRC_CRM_ENFORCEMENT_MODE: "full",
    });
  });
  afterAll(async () => {
    for (const forward of forwards) forward.kill("SIGKILL");
    if (stack !== undefined) await stopStack(stack, "SIGTERM");
    await folder?.remove();
  });

  test("is invoked through its Service and prints to its log", async () => {
    expect(await cli("invoke", "greeter", "greet", "--data", "OaaS")).toBe("Hello, OaaS!\n");
    expect(await cli("invoke", "greeter", "sum", "--data", "[1,2,3]")).toBe("6\n");
    expect(await cli("logs", "greeter", "--function", "sum")).toContain("POST / 200");
    const { items } = await get<{ items: readonly { status: { nodeInfo: { containerRuntimeVersion: string } } }[] }>(
      "nodes",
    );
    expect(items.map(({ status }) => status.nodeInfo.containerRuntimeVersion)).toEqual([
      "containerd://1.6.20",
      "containerd://1.6.20",
    ]);
  });

  test("restarts a container whose process ends, and keeps its log", async () => {
    const [pod] = await podsOf("greeter");
    const { name, namespace } = pod?.metadata ?? { name: "", namespace: "" };
    await kubectl(["exec", "-n", namespace, name, "--", "/usr/bin/node", "-e", "process.kill(1, 'SIGTERM')"]);
    const restarted = async (): Promise<boolean> =>
      (await get<Pod>(`pod ${name} -n ${namespace}`)).status.containerStatuses?.[0]?.restartCount === 1;
    await eventually(restarted, { what: "the restart", timeoutMs: 2 * MINUTES });
    expect(await kubectl(["logs", "-n", namespace, name, "--previous"])).toContain("greet, shout, sum on port 8080");
  });

  test("is ready when its exec probe succeeds, and not before", async () => {
    const probe = {
      exec: { command: ["/usr/bin/node", "-e", "fs.accessSync('/state/ready')"] },
      periodSeconds: 1,
      timeoutSeconds: 5,
    };
    const provision = {
      ...PROVISION,
      volumes: [{ name: "state", emptyDir: {} }],
      volumeMounts: [{ name: "state", mountPath: "/state" }],
      readinessProbe: probe,
    };
    const applied = apply(greeterClass("probed", provision));
    await eventually(async () => (await onlyPod("probed")).status.containerStatuses?.[0]?.started === true, {
      what: "the pod",
      timeoutMs: 2 * MINUTES,
    });
    const { metadata } = await onlyPod("probed");
    const events = async (): Promise<string> =>
      kubectl(["get", "events", "-n", metadata.namespace, "--field-selector", `involvedObject.name=${metadata.name}`]);
    await eventually(async () => (await events()).includes("Readiness probe failed"), {
      what: "a failed probe",
      timeoutMs: 2 * MINUTES,
    });
    expect((await onlyPod("probed")).status.containerStatuses?.[0]?.ready).toBe(false);
    await kubectl([
      "exec",
      "-n",
      metadata.namespace,
      metadata.name,
      "--",
      "/usr/bin/node",
      "-e",
      "fs.writeFileSync('/state/ready', '')",
    ]);
    await applied;
    expect(await cli("invoke", "probed", "greet", "--data", "probe")).toBe("Hello, probe!\n");
  });

  test("answers every request of a load while it is updated", async () => {
    await apply(greeterClass("rolled", { ...PROVISION, min_scale: 2 }));
    await startLoad("rolling-load", await urlOf("rolled"), 4);
    await apply(greeterClass("rolled", { ...PROVISION, min_scale: 2, container_image: NEXT_GREETER_IMAGE }));
    const seen = await eventually(
      async () => {
        const now = await report("rolling-load");
        const pods = await podsOf("rolled");
        const isUpdated =
          pods.length === 2 && pods.every(({ spec }) => spec.containers[0]?.image === NEXT_GREETER_IMAGE);
        return isUpdated && now.answers.length === 2 ? now : false;
      },
      { what: "both versions", timeoutMs: 4 * MINUTES },
    );
    // The pods of the first version have ended.
    await eventually(
      async () => (await get<{ items: unknown[] }>(`pods -A -l app=${await appOf("rolled")}`)).items.length === 2,
      { what: "the end of the old pods", timeoutMs: 2 * MINUTES },
    );
    const last = await eventually(
      async () => {
        const now = await report("rolling-load");
        return now.ok > seen.ok + 100 ? now : false;
      },
      { what: "a hundred more answers", timeoutMs: 2 * MINUTES },
    );
    expect(last.failed).toEqual([]);
    expect(last.answers).toEqual(["Hello, OaaS!", "Welcome, OaaS!"]);
    process.stdout.write(`rolling update: ${last.ok} requests, ${last.failed.length} failed\n`);
    await kubectl(["delete", "pod", "rolling-load", "--wait=false"]);
  });

  const appOf = async (deployment: string): Promise<string> =>
    firstOf(await podsOf(deployment)).metadata.labels?.["app"] ?? "";

  test("is resized in place", async () => {
    const [pod] = await podsOf("rolled");
    const { name, namespace } = pod?.metadata ?? { name: "", namespace: "" };
    const container = pod?.spec.containers[0]?.name ?? "";
    const patch = { spec: { containers: [{ name: container, resources: { requests: { cpu: "150m" } } }] } };
    await kubectl([
      "patch",
      "pod",
      name,
      "-n",
      namespace,
      "--subresource=resize",
      "--type=strategic",
      "-p",
      JSON.stringify(patch),
    ]);
    const status = await eventually(
      async () => {
        const now = (await get<Pod>(`pod ${name} -n ${namespace}`)).status.containerStatuses?.[0];
        return now?.resources?.requests?.["cpu"] === "150m" ? now : false;
      },
      { what: "the new request", timeoutMs: 2 * MINUTES },
    );
    expect(status.restartCount).toBe(0);
    expect(await cli("invoke", "rolled", "greet", "--data", "x")).toBe("Welcome, x!\n");
  });

  test("has its CPU raised in place by enforcement, for the CPU that its container really uses", async () => {
    // Enforcement keeps a request that the class states, so a small one is the default of the environment.
    const requests = { cpu: "20m", memory: "64Mi" };
    const container_resources = { function: { requests, limits: { cpu: "500m", memory: "512Mi" } } };
    const environment = {
      apiVersion: "oaas.io/v1alpha1",
      kind: "EnvironmentConfig",
      metadata: { name: "small", namespace: firstOf(await podsOf("greeter")).metadata.namespace },
      spec: { kind: "cloud", default: true, odgm: { container_resources } },
    };
    await kubectl(["apply", "-f", "-"], JSON.stringify(environment));
    const { cpu_request: _stated, ...provision } = PROVISION;
    const [definition, deployment] = greeterClass("tuned", provision);
    const enforced = {
      ...deployment,
      nfr_requirements: { max_latency_ms: 200 },
      enforcement: { mode: "enforce", dimensions: ["cpu"] },
    };
    await apply([definition, enforced]);
    const before = await onlyPod("tuned");
    expect(requestedCpu(before)).toBe("20m");
    await startLoad("tuning-load", await urlOf("tuned"), 8);
    // The status has what containerd applied.
    const after = await eventually(
      async () => {
        const pod = await onlyPod("tuned");
        return requestedCpu(pod) === "20m" ? false : pod;
      },
      { what: "the raised request", timeoutMs: 5 * MINUTES },
    );
    expect(requestedCpu(after)).toMatch(/^[1-9]\d\d?m$|^\d+$/);
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.status.containerStatuses?.[0]?.restartCount).toBe(0);
    const { items } = await get<{ items: readonly { reason: string; message: string }[] }>("events -A");
    expect(items.filter(({ reason }) => reason === "NFRApplied").map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^greet 20m CPU to \d+m CPU \(pods of \S+ resources\.requests\.cpu, in place, /),
    );
    expect(await cli("invoke", "tuned", "greet", "--data", "x")).toBe("Hello, x!\n");
    await kubectl(["delete", "pod", "tuning-load", "--wait=false"]);
    await kubectl(["delete", "environmentconfig", "small", "-n", environment.metadata.namespace]);
  });

  test("has a state store whose settings follow the contract, and which reaches its functions over gRPC", async () => {
    const [definition, deployment] = greeterClass("kept", PROVISION);
    const [first] = (definition as { classes: object[] }).classes;
    const stateful = {
      ...first,
      state_spec: { consistency_model: "READ_YOUR_WRITE", key_specs: [{ name: "items", key_type: "json" }] },
    };
    const withStore = { ...deployment, odgm: { collections: ["kept.Greeter"], partition_count: 2, replica_count: 1 } };
    await apply([{ ...definition, classes: [stateful] }, withStore]);
    const store = await onlyPod("kept", "odgm");
    const { name, namespace } = store.metadata;
    expect(await kubectl(["logs", "-n", namespace, name])).toMatch(
      /^node \d+ of \d+(,\d+)* serves kept.Greeter at \S+:8080/,
    );
    // Of the template dev.
    expect(store.spec.terminationGracePeriodSeconds).toBe(5);
    const channel = await forwardTo(namespace, name);
    const data = channel.client(oprcData.DataService);
    const object = { clsId: "kept.Greeter", partitionId: 1, objectId: "ana" };
    await data.set({ ...object, object: { entries: { items: { data: new TextEncoder().encode("[1]") } } } });
    const kept = await data.getValue({ ...object, key: "items" });
    expect(new TextDecoder().decode(kept.value?.data)).toBe("[1]");
    const { shards } = await data.stats({});
    expect(shards.map(({ collection, partitionId, count }) => [collection, partitionId, count])).toEqual([
      ["kept.Greeter", 0, 0n],
      ["kept.Greeter", 1, 1n],
    ]);
    const answer = await channel
      .client(oprcInvoke.OprcFunction)
      .invokeObj({ ...object, fnId: "greet", payload: new Uint8Array() });
    expect(answer.status).toBe(oprcInvoke.ResponseStatus.OKAY);
    expect(new TextDecoder().decode(answer.payload)).toBe("Hello, ana!");
    channel.close();
  });

  test("gets replicas for the CPU that its containers really use", async () => {
    const [definition, deployment] = greeterClass("scaled", { ...PROVISION, cpu_request: "20m" });
    const enforced = {
      ...deployment,
      nfr_requirements: { max_latency_ms: 200 },
      enforcement: { mode: "enforce", dimensions: ["replicas"], max_replicas: 3 },
    };
    await apply([definition, enforced]);
    await startLoad("scaling-load", await urlOf("scaled"), 8);
    await eventually(async () => (await podsOf("scaled")).length >= 2, {
      what: "a second replica",
      timeoutMs: 5 * MINUTES,
    });
    const { items } = await get<{ items: readonly { reason: string; message: string }[] }>("events -A");
    expect(items.some(({ reason }) => reason === "NFRApplied")).toBe(true);
    await kubectl(["delete", "pod", "scaling-load", "--wait=false"]);
  });

  test("moves to the other node when one is drained", async () => {
    await kubectl(["drain", "real-1", "--force", "--delete-emptydir-data", "--ignore-daemonsets", "--timeout=170s"]);
    const onOther = async (): Promise<boolean> => {
      const pods = await podsOf("greeter");
      return (
        pods.length === 3 &&
        pods.every(({ spec, status }) => spec.nodeName === "real-2" && status.containerStatuses?.[0]?.ready === true)
      );
    };
    await eventually(onOther, { what: "all functions on real-2", timeoutMs: 3 * MINUTES });
    await eventually(async () => (await cli("invoke", "greeter", "greet", "--data", "again")) === "Hello, again!\n", {
      what: "an answer",
      timeoutMs: MINUTES,
    });
    await kubectl(["uncordon", "real-1"]);
  });

  test("leaves nothing on the machine when the stack stops", async () => {
    const own = cgroupsOfNodes();
    expect(own.length).toBeGreaterThan(0);
    await stopStack(stack, "SIGTERM");
    await eventually(() => cgroupsOfNodes().every((name) => !own.includes(name)), {
      what: "the removal of the cgroups",
      timeoutMs: MINUTES,
    });
  });

  async function forwardTo(namespace: string, pod: string): Promise<RpcChannel> {
    const [port = 0] = await freePorts(1);
    const env = { ...process.env, KUBECONFIG: stack.clusters[0]?.kubeconfig ?? "" };
    const args = ["port-forward", "-n", namespace, `pod/${pod}`, `${port}:8080`];
    const child = spawn(componentFile("kubectl"), args, { env, stdio: ["ignore", "pipe", "inherit"] });
    forwards.push(child);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    return new RpcChannel({
      name: "the state store",
      address: `127.0.0.1:${port}`,
      clock: realAmbient.clock,
      deadlineMs: 30_000,
    });
  }
}

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly terminationGracePeriodSeconds?: number;
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  };
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly started?: boolean;
      readonly restartCount: number;
      readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
    }[];
  };
}

const PROVISION = {
  container_image: GREETER,
  port: 8080,
  need_http2: true,
  cpu_request: "50m",
  memory_request: "64Mi",
};

/** A package with one function, and its deployment of the same name. */
function greeterClass(name: string, provision: object): readonly [object, object] {
  return [
    {
      name,
      version: "1.0.0",
      classes: [
        {
          key: "Greeter",
          function_bindings: [{ name: "greet", function_key: "greet", access_modifier: "PUBLIC", stateless: true }],
        },
      ],
      functions: [{ key: "greet", provision_config: provision }],
    },
    { key: name, package_name: name, class_key: "Greeter", target_clusters: ["cloud"] },
  ];
}

/** The CPU request that the kubelet reports for the container. */
function requestedCpu({ status }: Pod): string | undefined {
  return status.containerStatuses?.[0]?.resources?.requests?.["cpu"];
}

function firstOf(pods: readonly Pod[]): Pod {
  const [pod] = pods;
  if (pod === undefined) throw new Error("there is no pod");
  return pod;
}

function cgroupsOfNodes(): readonly string[] {
  const root = "/sys/fs/cgroup";
  const hierarchies = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...readdirSync(root), ...hierarchies.flatMap(({ name }) => readdirSync(`${root}/${name}`))].filter((name) =>
    name.startsWith("oaas-node-"),
  );
}
