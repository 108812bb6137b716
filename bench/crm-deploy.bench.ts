import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { keyOf, type KubeObject } from "@oaas/kube-core";
import { makeRunFolder, runCommand } from "@oaas/testkit";
import { OWNER_LABEL } from "../apps/class-runtime-manager/src/templates/index.ts";
import { CORE_CHILD_KINDS } from "../apps/class-runtime-manager/src/controller/kinds/resource-types.ts";
import { childrenOf, idsOf } from "./crm/classes.ts";
import { atOnce, percentile, startLab, type CrmLab } from "./crm/lab.ts";
import {
  isClassWrite,
  now,
  quiet,
  requestsBetween,
  startManager,
  type MeasuredManager,
} from "./crm/measured-manager.ts";
import { deploy } from "./crm/population.ts";
import type { ProcessFigures } from "./crm/probe.ts";
import type { Bench, BenchReport } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const CLASSES = scaled(1_000);
const WARM_UP = Math.max(10, scaled(50));
const ROUNDS = 3;
/** Concurrent Deploy calls. */
const CALLERS = 64;
/** Concurrency of the manager: classes times children, limited by its connections. Raw applies use the same. */
const AT_ONCE = 64;
const PATIENCE_MS = 600_000;
/** Long, because each reply costs the manager time; the reply contains the time of the last write. */
const ASK_EVERY_MS = 500;
/** There is no garbage collector in this cluster. */
const NO_UID = "00000000-0000-4000-8000-000000000000";

/** The result of the raw apply program. */
interface Applied {
  readonly applied: number;
  readonly ms: number;
  readonly cpuMs: number;
}

interface Raw extends Applied {
  /** CPU time of the server per child. */
  readonly serverMsPerChild: number;
}

interface Made {
  /** From the first Deploy to the last child. */
  readonly ms: number;
  readonly children: number;
  /** Writes of the class, its children and its status. */
  readonly writes: number;
  /** Kubernetes Events, written one by one in the background; a long queue is truncated. */
  readonly events: number;
  readonly reads: number;
  readonly cpuMs: number;
  /** CPU time of the manager and the server until the last child was written. */
  readonly untilLastChild: { readonly cpuMs: number; readonly serverMs: number };
  readonly deployMs: readonly number[];
  readonly byName: Readonly<Record<string, number>>;
}

/**
 * Deploys classes of two functions and a state store on a real API server without controllers until all children are
 * applied, and compares with applying the same children directly, in turn. Both start with the same number of Services,
 * because the server scans all of them to allocate an address.
 */
export const bench: Bench = {
  name: "crm-deploy",
  async run(log) {
    await using lab = await startLab();
    await using manager = await startManager(lab.kubeconfig);
    await manager.readyAt;
    const idle = await manager.figures({ heap: true });
    await lab.makeNamespace("warm");
    await makeClasses(lab, manager, "warm", WARM_UP);
    const raws: Raw[] = [];
    const mades: Made[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const raw = await applyRaw(lab, `raw-${round}`);
      await lab.makeNamespace(`made-${round}`);
      const made = await makeClasses(lab, manager, `made-${round}`, CLASSES);
      log(
        `round ${round}: raw ${perSecond(raw.applied, raw.ms)}, made ${perSecond(made.children, made.ms)} children per second, ${JSON.stringify(made.byName)}`,
      );
      raws.push(raw);
      mades.push(made);
    }
    return reportOf(raws, mades, idle);
  },
};

/** Applies the children of CLASSES classes with our client only. */
async function applyRaw(lab: CrmLab, namespace: string): Promise<Raw> {
  await lab.makeNamespace(namespace);
  const folder = await makeRunFolder("crm-raw");
  try {
    const file = path.join(folder.path, "objects.json");
    const objects = idsOf(CLASSES).flatMap((id) => childrenOf(id, namespace, NO_UID).map(unwatched));
    await writeFile(file, JSON.stringify(objects));
    const program = fileURLToPath(import.meta.resolve("./crm/apply-raw.ts"));
    const serverMs = lab.serverCpuMs();
    const ran = await runCommand(process.execPath, [program, lab.kubeconfig, file, String(AT_ONCE)], {
      timeoutMs: PATIENCE_MS,
    });
    if (ran.exitCode !== 0) throw new Error(ran.stderr.slice(-2_000));
    const serverMsPerChild = (lab.serverCpuMs() - serverMs) / objects.length;
    await removeServices(lab, objects);
    return { ...(JSON.parse(ran.stdout) as Applied), serverMsPerChild };
  } finally {
    await folder.remove();
  }
}

/** Releases the Service addresses. */
async function removeServices(lab: CrmLab, objects: readonly KubeObject[]): Promise<void> {
  const type = CORE_CHILD_KINDS.find(({ kind }) => kind === "Service");
  if (type === undefined) throw new Error("the children contain no Services");
  const services = lab.client.resource(type);
  await atOnce(
    objects.filter(({ kind }) => kind === "Service"),
    AT_ONCE,
    async (service) => {
      await services.delete(keyOf(service));
    },
  );
}

/** The same object with a label of the same length that the manager does not watch, so that it stays idle. */
function unwatched(child: KubeObject): KubeObject {
  const { [OWNER_LABEL]: owner = "", ...labels } = child.metadata.labels ?? {};
  return { ...child, metadata: { ...child.metadata, labels: { ...labels, [`${OWNER_LABEL.slice(0, -1)}x`]: owner } } };
}

async function makeClasses(lab: CrmLab, manager: MeasuredManager, namespace: string, count: number): Promise<Made> {
  const perClass = childrenOf("order-0", namespace, NO_UID).length;
  const before = await manager.figures();
  const serverMs = lab.serverCpuMs();
  const deployMs: number[] = [];
  const start = now();
  const calls = atOnce(idsOf(count), CALLERS, async (id) => {
    const asked = performance.now();
    await deploy(manager, { id, namespace });
    deployMs.push(performance.now() - asked);
  });
  const after = await allChildren(manager, before, count * perClass);
  const untilLastChild = { cpuMs: after.cpuMs - before.cpuMs, serverMs: lab.serverCpuMs() - serverMs };
  await calls;
  const ms = lastChildAt(after) - start;
  const settled = await quiet(manager);
  await check(lab, namespace, count, perClass);
  return {
    ms,
    children: count * perClass,
    writes: requestsBetween(before, settled, (name) => isClassWrite(name) && !isEvent(name)),
    events: requestsBetween(before, settled, isEvent),
    reads: requestsBetween(before, settled, (name) => /^(GET|LIST) /.test(name)),
    cpuMs: settled.cpuMs - before.cpuMs,
    untilLastChild,
    deployMs,
    byName: Object.fromEntries(
      Object.keys(settled.requests)
        .map((name) => [name, requestsBetween(before, settled, (one) => one === name) / count] as const)
        .filter(([, perOne]) => perOne >= 0.05),
    ),
  };
}

/** Polls until all children are written. */
async function allChildren(manager: MeasuredManager, before: ProcessFigures, wanted: number): Promise<ProcessFigures> {
  for (const start = now(); ;) {
    const figures = await manager.figures();
    const written = requestsBetween(before, figures, isChildWrite);
    if (written >= wanted) return figures;
    if (now() - start > PATIENCE_MS) throw new Error(`${written} of ${wanted} children`);
    await sleep(ASK_EVERY_MS);
  }
}

/** Checks that every class has exactly its children. */
async function check(lab: CrmLab, namespace: string, count: number, perClass: number): Promise<void> {
  const listed = await lab.kubectl([
    "get",
    "deployments,services,configmaps",
    "-n",
    namespace,
    "-l",
    "oaas.io/owner",
    "-o",
    "name",
  ]);
  const found = listed.stdout.split("\n").filter((line) => line !== "").length;
  if (found !== count * perClass) throw new Error(`${found} children, not ${count * perClass}`);
}

function isEvent(name: string): boolean {
  return name.endsWith(" events") && !name.startsWith("LIST ");
}

function isChildWrite(name: string): boolean {
  return /^PATCH [a-z]+$/.test(name) && name !== "PATCH classruntimes";
}

function lastChildAt({ requests }: ProcessFigures): number {
  return Math.max(...Object.entries(requests).map(([name, { lastAt }]) => (isChildWrite(name) ? lastAt : 0)));
}

function perSecond(count: number, ms: number): string {
  return ((count / ms) * 1000).toFixed(0);
}

function reportOf(raws: readonly Raw[], mades: readonly Made[], idle: ProcessFigures): BenchReport {
  const rawRates = raws.map(({ applied, ms }) => (applied / ms) * 1000);
  const madeRates = mades.map(({ children, ms }) => (children / ms) * 1000);
  const rawRate = median(rawRates);
  const madeRate = median(madeRates);
  const perClass = (mades[0]?.children ?? 0) / CLASSES;
  const writes = median(mades.map((made) => made.writes / CLASSES));
  const deployMs = mades.flatMap((made) => made.deployMs);
  const rawCpu = {
    client: median(raws.map((raw) => (raw.cpuMs / raw.applied) * perClass)),
    server: median(raws.map((raw) => raw.serverMsPerChild * perClass)),
  };
  const madeCpu = {
    manager: median(mades.map((made) => made.untilLastChild.cpuMs / CLASSES)),
    server: median(mades.map((made) => made.untilLastChild.serverMs / CLASSES)),
  };
  return {
    title: `${CLASSES} classes of two functions and a state store (${perClass} children each) from Deploy to all children applied, on a real API server (medians of ${ROUNDS} rounds)`,
    measurements: [
      {
        name: "raw: children applied by our client alone",
        value: rawRate,
        unit: "per second",
        note: `${AT_ONCE} at once`,
      },
      { name: "classes: children applied", value: madeRate, unit: "per second" },
      { name: "classes: complete", value: madeRate / perClass, unit: "per second" },
      {
        name: "API writes per class",
        value: writes,
        unit: "writes",
        note: "the class itself, children, status",
      },
      {
        name: "Events per class",
        value: median(mades.map((made) => made.events / CLASSES)),
        unit: "writes",
        note: "one at a time, beside the work",
      },
      { name: "API reads per class", value: median(mades.map((made) => made.reads / CLASSES)), unit: "reads" },
      {
        name: "Deploy, p50",
        value: percentile(deployMs, 0.5),
        unit: "ms",
        note: `${CALLERS} calls at once, on a server that is busy with children`,
      },
      { name: "Deploy, p99", value: percentile(deployMs, 0.99), unit: "ms" },
      {
        name: "CPU time of the manager per class",
        value: median(mades.map((made) => made.cpuMs / CLASSES)),
        unit: "ms",
        note: "status and Events included",
      },
      { name: "of which until the last child is written", value: madeCpu.manager, unit: "ms" },
      { name: "CPU time of the server per class until then", value: madeCpu.server, unit: "ms" },
      { name: "CPU time of the raw client for the same children", value: rawCpu.client, unit: "ms" },
      { name: "CPU time of the server for those", value: rawCpu.server, unit: "ms" },
      {
        name: "idle manager, resident",
        value: idle.rssBytes / 2 ** 20,
        unit: "MiB",
        note: "without classes, after a collection",
      },
      { name: "idle manager, live heap", value: (idle.heapBytes ?? 0) / 2 ** 20, unit: "MiB" },
    ],
    ratios: [
      {
        name: "rate of children, classes / raw",
        value: median(madeRates.map((rate, round) => rate / (rawRates[round] ?? Number.NaN))),
        floor: 0.8,
        explains: `median of the rounds' own; until the last child the manager writes ${perClass + 1} objects for ${perClass} children, so that it cannot be above ${(perClass / (perClass + 1)).toFixed(2)} where the server is the limit`,
      },
      {
        name: "CPU time of server and client, raw / classes",
        value: (rawCpu.client + rawCpu.server) / (madeCpu.manager + madeCpu.server),
        explains: "comparable across loads: client and server share the CPUs",
      },
      {
        name: "write budget / writes",
        value: (perClass + 2) / writes,
        floor: 1,
        explains: "the budget is one per child, and two for the class and its status",
      },
    ],
  };
}
