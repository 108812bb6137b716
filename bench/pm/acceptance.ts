import type { KubeObject } from "@oaas/kube-core";
import { resourceType } from "@oaas/kube-runtime";
import { eventually } from "@oaas/testkit";
import { idsOf, unitOf } from "../crm/classes.ts";
import { atOnce, startLab, type CrmLab } from "../crm/lab.ts";
import {
  isClassWrite,
  now,
  quiet,
  requestsBetween,
  startManager,
  type MeasuredManager,
} from "../crm/measured-manager.ts";
import type { ProcessFigures } from "../crm/probe.ts";
import { scaled } from "../kube/scale.ts";
import { startMeasuredPm, type MeasuredPm } from "./measured-pm.ts";

export const DEPLOYMENTS = scaled(200);
const WARM_UP = Math.max(5, scaled(20));
/** Concurrent Deploy calls of the second part. */
export const CALLERS = 8;
const PATIENCE_MS = 120_000;

/** One part of a round: how long callers waited, and when the work was done. */
export interface Part {
  readonly latencies: readonly number[];
  /** From the first call to the last child of the last class. */
  readonly childrenMs: number;
  /** From the last response to the last child. */
  readonly lagMs: number;
  /** CPU time until everything was written. */
  readonly cpuMs: { readonly managers: number; readonly server: number };
}

export interface Round {
  readonly posts: Part;
  readonly deploys: Part;
}

export interface Variant {
  /** The folder of another checkout. */
  readonly checkout?: string;
  /** Settings of both managers. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Deployments through both managers one at a time, then Deploy calls of the class runtime manager alone, on a new real
 * API server without controllers.
 */
export async function measureAcceptance({ checkout, env = {} }: Variant): Promise<Round> {
  await using lab = await startLab();
  await using manager = await startManager(lab.kubeconfig, env, checkout);
  await manager.readyAt;
  await addNode(lab);
  const where = checkout === undefined ? {} : { checkout };
  await using pm = await startMeasuredPm({ clusters: { edge: manager.url }, env, ...where });
  await register(pm);
  await lab.makeNamespace("direct");
  const stack = { lab, manager, pm };
  await run(stack, idsOf(WARM_UP, "warm"), 1, (id) => post(pm, id));
  const posts = await run(stack, idsOf(DEPLOYMENTS, "post"), 1, (id) => post(pm, id));
  const deploys = await run(stack, idsOf(DEPLOYMENTS, "call"), CALLERS, async (id) => {
    await manager.deployments.deploy({ deploymentUnit: unitOf(id), namespace: "direct" }, { deadlineMs: PATIENCE_MS });
  });
  return { posts, deploys };
}

interface Stack {
  readonly lab: CrmLab;
  readonly manager: MeasuredManager;
  readonly pm: MeasuredPm;
}

/** The package manager deploys only to clusters with ready nodes. */
async function addNode(lab: CrmLab): Promise<void> {
  const nodes = lab.client.resource(NODES);
  await nodes.create({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" } });
  const status = {
    conditions: [{ type: "Ready", status: "True" }],
    allocatable: { cpu: "64", memory: "256Gi", pods: "500" },
  };
  await nodes.patch({ namespace: "", name: "n1" }, "merge", { status }, { subresource: "status" });
}

const NODES = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Node",
  resource: "nodes",
  namespaced: false,
});

async function register(pm: MeasuredPm): Promise<void> {
  const functionOf = (key: string): object => ({
    key,
    config: { LOG: "info", REGION: "eu" },
    provision_config: {
      container_image: `registry.example/shop/${key}:1.0`,
      cpu_request: "10m",
      memory_request: "16Mi",
      min_scale: 1,
    },
  });
  const bindingOf = (key: string): object => ({ name: key, function_key: key, access_modifier: "PUBLIC" });
  const body = {
    name: "shop",
    classes: [
      {
        key: "Order",
        function_bindings: [bindingOf("place"), bindingOf("cancel")],
        state_spec: { persistent: false },
      },
    ],
    functions: [functionOf("place"), functionOf("cancel")],
  };
  await eventually(
    async () => {
      const { json } = await pm.call("GET", "/api/v1/clusters/health");
      if (!(json as { readonly status: string }[]).every(({ status }) => status === "Healthy")) throw new Error("wait");
    },
    { timeoutMs: PATIENCE_MS, what: "the cluster to be healthy" },
  );
  const response = await pm.call("POST", "/api/v1/packages", { body });
  if (response.status !== 201) throw new Error(response.text);
}

async function post(pm: MeasuredPm, key: string): Promise<void> {
  const body = { key, package_name: "shop", class_key: "Order", target_envs: ["edge"] };
  const response = await pm.call("POST", "/api/v1/deployments", { body });
  if (response.status > 202) throw new Error(`${key}: ${response.status} ${response.text}`);
}

/** Sends the calls and waits until the manager has written everything that follows from them. */
async function run(
  { lab, manager, pm }: Stack,
  ids: readonly string[],
  width: number,
  call: (id: string) => Promise<void>,
): Promise<Part> {
  const before = await manager.figures();
  const pmBefore = await pm.figures();
  const serverMs = lab.serverCpuMs();
  const latencies: number[] = [];
  const start = now();
  await atOnce(ids, width, async (id) => {
    const asked = performance.now();
    await call(id);
    latencies.push(performance.now() - asked);
  });
  const accepted = now();
  const done = await allWritten(manager, before, ids.length);
  const last = lastChildAt(done);
  return {
    latencies,
    childrenMs: last - start,
    lagMs: last - accepted,
    cpuMs: {
      managers: done.cpuMs - before.cpuMs + (await pm.figures()).cpuMs - pmBefore.cpuMs,
      server: lab.serverCpuMs() - serverMs,
    },
  };
}

/** Waits until the status of every class is written, which follows its children, and nothing more happens. */
async function allWritten(manager: MeasuredManager, before: ProcessFigures, classes: number): Promise<ProcessFigures> {
  const isStatus = (name: string): boolean => name === "PATCH classruntimes/status";
  for (const start = now(); ;) {
    const figures = await quiet(manager);
    if (requestsBetween(before, figures, isStatus) >= classes) return figures;
    if (now() - start > PATIENCE_MS) throw new Error(`a status is missing: ${JSON.stringify(figures.requests)}`);
  }
}

function isChildWrite(name: string): boolean {
  return isClassWrite(name) && /^PATCH [a-z]+$/.test(name) && name !== "PATCH classruntimes" && name !== "PATCH events";
}

function lastChildAt({ requests }: ProcessFigures): number {
  return Math.max(...Object.entries(requests).map(([name, { lastAt }]) => (isChildWrite(name) ? lastAt : 0)));
}
