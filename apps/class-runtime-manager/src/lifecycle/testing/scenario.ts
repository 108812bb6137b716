import { equalJson } from "@oaas/foundation";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { evaluate, type LifecycleStep } from "../evaluate.ts";
import { problem } from "../observation/problem.ts";
import type { Pod, Workload, WorkloadStatus } from "../observation/observed-objects.ts";
import { REASONS, type Reason } from "../observation/reasons.ts";
import { refFrom, SimulatedCluster } from "./simulated-cluster.ts";

/*
 * Scenarios are text. Lines that start with `|` are recorded results; all others are steps:
 *
 *   function KEY deployment/NAME [replicas=2] [scaled=keda]     also statefulset, daemonset, job, knative; or in-odgm, nothing-to-run
 *   without function KEY                          removes it from the spec
 *   odgm statefulset/NAME [replicas=1]            the class has a state store; more than one name: one per node
 *   odgm says healthy | odgm says "…"             result of its health check
 *   template NAME explicit|score                  template none: no template was selected
 *   generation 2                                  the spec was changed
 *   applied                                       all desired children exist
 *   deployment/NAME rolled-out                    as its controller reports it; also replicas= updated= ready= available=
 *                                                 observed= generation= spec.replicas= Condition=True reason= message=
 *                                                 latest=, a Knative Service's newest revision
 *   replicaset NAME of deployment/NAME revision=2
 *   pod NAME of deployment/NAME STATE [node=] [replicaset=] [revision=]     states: see podStatus
 *   node NAME ready | node NAME lost
 *   event pod/NAME Reason "message"
 *   gone deployment/NAME | gone pod/NAME | gone everything
 *   deployment/NAME deleting finalizer=example.com/hold
 *   problem Reason [deployment/NAME] "message" | no problems
 *   deleted                                       the class has a deletion timestamp
 *   later 30s                                     time passes
 *   restarted                                     the manager restarts with the stored status
 *   look                                          evaluates and records
 */

/** A custom step that records lines. */
export type ScenarioStep = (
  world: SimulatedCluster,
  status: ClassRuntimeStatus | undefined,
  words: readonly string[],
) => string[];

/** Runs a scenario and returns its text with the recorded results. */
export function runScenario(text: string, steps: Readonly<Record<string, ScenarioStep>> = {}): string {
  const world = new SimulatedCluster();
  let status: ClassRuntimeStatus | undefined;
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("|")) continue;
    lines.push(line);
    const words = wordsOf(line);
    const [command] = words;
    if (command === undefined) continue;
    const own = Object.hasOwn(steps, command) ? steps[command] : undefined;
    if (own !== undefined) {
      lines.push(...own(world, status, words.slice(1)).map((recorded) => `| ${recorded}`.trimEnd()));
    } else if (command === "look") {
      const step = evaluate(status, world.observation(), world.nowMs);
      lines.push(...record(step, world).map((recorded) => `| ${recorded}`));
      expectQuiet(step, world);
      status = step.status;
    } else if (command === "restarted") {
      status = status === undefined ? undefined : (JSON.parse(JSON.stringify(status)) as ClassRuntimeStatus);
    } else perform(world, words);
  }
  return lines.join("\n");
}

/** Evaluating the same cluster again, also later and in another order, must not change the status. */
function expectQuiet(step: LifecycleStep, world: SimulatedCluster): void {
  const observation = world.observation();
  const shuffled = {
    ...observation,
    children: observation.children.toReversed(),
    pods: observation.pods.toReversed(),
    events: observation.events.toReversed(),
  };
  for (const [again, at] of [
    [observation, world.nowMs],
    [shuffled, world.nowMs + 1],
  ] as const) {
    const next = evaluate(step.status, again, at);
    if (next.changed || next.events.length > 0 || !equalJson(next.status, step.status)) {
      throw new Error(`the same cluster gave another status: ${JSON.stringify(next.status, null, 1)}`);
    }
  }
}

function record(step: LifecycleStep, world: SimulatedCluster): string[] {
  if (!step.changed) return ["unchanged", ...wakeUp(step, world)];
  const { status } = step;
  return [
    `${status.phase} (${[status.condition, status.deployment_phase].filter(Boolean).join(", ")}), generation ${status.observedGeneration ?? "none"} observed: ${status.message}`,
    ...(status.conditions ?? []).map(
      ({ type, status: holds, reason, message, lastTransitionTime }) =>
        `  ${type}=${holds} ${reason} since ${world.since(lastTransitionTime)}: ${message}`,
    ),
    ...(status.functions ?? []).map(
      (one) =>
        `  function ${one.function_key} ${one.ready === true ? ["ready", one.reason].filter(Boolean).join(" ") : `not ready ${one.reason}`}` +
        (one.desired_replicas === undefined ? "" : ` ${one.ready_replicas}/${one.desired_replicas}`) +
        ` since ${world.since(one.lastTransitionTime)}${one.observed_url === undefined ? "" : ` at ${one.observed_url}`}`,
    ),
    ...(status.resource_refs === undefined
      ? []
      : [
          `  objects: ${status.resource_refs.map(({ kind, name, uid }) => `${kind}/${name}(${uid})`).join(" ") || "none"}`,
        ]),
    ...step.events.map(({ type, reason, note }) => `  event ${type} ${reason}: ${note}`),
    ...wakeUp(step, world),
  ];
}

function wakeUp({ recheckAtMs }: LifecycleStep, world: SimulatedCluster): string[] {
  return recheckAtMs === undefined ? [] : [`  rechecks at ${world.since(new Date(recheckAtMs).toISOString())}`];
}

interface Words {
  readonly plain: readonly string[];
  readonly named: Readonly<Record<string, string>>;
}

function wordsOf(line: string): string[] {
  return [...line.replace(/(^|\s)#.*$/, "").matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ""));
}

function sorted(words: readonly string[]): Words {
  const isNamed = (word: string): boolean => /^[A-Za-z.]+=/.test(word);
  return {
    plain: words.filter((word) => !isNamed(word)),
    named: Object.fromEntries(
      words.filter(isNamed).map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
    ),
  };
}

function perform(world: SimulatedCluster, words: readonly string[]): void {
  const { plain, named } = sorted(words);
  const [command = "", first = "", second = "", third = ""] = plain;
  const replicas = Number(named["replicas"] ?? 1);
  if (command.includes("/")) return changeObject(world, command, plain.slice(1), named);
  switch (command) {
    case "function":
      if (second === "in-odgm") return world.addFunction(first, undefined, "odgm");
      if (second === "nothing-to-run") return world.addFunction(first, undefined, "none");
      return world.addFunction(first, refFrom(second), "workload", replicas, named["scaled"]);
    case "without":
      return void world.functions.delete(second);
    case "odgm":
      if (first === "says") {
        const healthy = second === "healthy";
        world.reading = { healthy, checkedAt: world.now, ...(healthy ? {} : { message: second }) };
      } else {
        world.odgm = {
          workloads: plain.slice(1).map(refFrom),
          service: `${refFrom(first).name}-svc:80`,
          replicas,
          shardType: "raft",
          collections: [{ name: "shop.Order", partitionCount: 4 }],
        };
      }
      return;
    case "template":
      world.template =
        first === "none" ? undefined : { name: first, basis: second === "explicit" ? "explicit" : "score" };
      return;
    case "telemetry":
      world.telemetry = first === "off" ? undefined : (first as NonNullable<SimulatedCluster["telemetry"]>);
      return;
    case "monitoring":
      world.monitoring = monitoringOf(first, second);
      return;
    case "generation":
      world.generation = Number(first);
      return;
    case "applied":
      return world.applyAll();
    case "replicaset":
      return addReplicaSet(world, first, refFrom(third).name, named);
    case "pod":
      return world.addPod(first, refFrom(third), podStatus(plain[4] ?? "", plain[5] ?? "", world, named), {
        ...(named["node"] === undefined ? {} : { node: named["node"] }),
        ...(named["replicaset"] === undefined ? {} : { replicaSet: named["replicaset"] }),
        ...(named["revision"] === undefined ? {} : { revision: named["revision"] }),
      });
    case "node":
      return addNode(world, first, second === "ready");
    case "event":
      return addEvent(world, first, second, third, named);
    case "gone":
      if (first !== "everything") return world.remove(refFrom(first));
      world.objects.clear();
      return world.pods.clear();
    case "problem": {
      if (!Object.hasOwn(REASONS, first)) throw new Error(`unknown reason: ${first}`);
      const about = plain.length > 3 ? refFrom(second) : undefined;
      world.problems.push(problem(first as Reason, plain.at(-1) ?? "", about));
      return;
    }
    case "no":
      world.problems = [];
      return;
    case "deleted":
      world.deleting = true;
      return;
    case "later":
      world.nowMs += Number.parseInt(first, 10) * (first.endsWith("m") ? 60_000 : 1000);
      return;
    default:
      throw new Error(`unknown step: ${words.join(" ")}`);
  }
}

const COUNTS: Readonly<Record<string, keyof WorkloadStatus>> = {
  observed: "observedGeneration",
  replicas: "replicas",
  updated: "updatedReplicas",
  ready: "readyReplicas",
  available: "availableReplicas",
  desired: "desiredNumberScheduled",
  scheduled: "updatedNumberScheduled",
};

function changeObject(world: SimulatedCluster, word: string, flags: readonly string[], named: Words["named"]): void {
  world.change(refFrom(word), (object) => {
    const metadata = {
      ...object.metadata,
      ...(named["generation"] === undefined ? {} : { generation: Number(named["generation"]) }),
      ...(flags.includes("deleting") ? { deletionTimestamp: world.now } : {}),
      ...(named["finalizer"] === undefined ? {} : { finalizers: [named["finalizer"]] }),
    };
    const spec =
      named["spec.replicas"] === undefined ? object.spec : { ...object.spec, replicas: Number(named["spec.replicas"]) };
    const status: Record<string, unknown> = { ...object.status };
    if (flags.includes("rolled-out")) Object.assign(status, rolledOut({ ...object, metadata }, spec?.replicas ?? 1));
    for (const [name, field] of Object.entries(COUNTS)) {
      if (named[name] !== undefined) status[field] = Number(named[name]);
    }
    const { reason, message, latest } = named;
    if (latest !== undefined) status["latestCreatedRevisionName"] = latest;
    const details = { ...(reason === undefined ? {} : { reason }), ...(message === undefined ? {} : { message }) };
    const conditions = Object.entries(named).flatMap(([type, value]) =>
      /^[A-Z]/.test(type) ? [{ type, status: value, lastTransitionTime: world.now, ...details }] : [],
    );
    if (conditions.length > 0) status["conditions"] = conditions;
    return { ...object, metadata, ...(spec === undefined ? {} : { spec }), status };
  });
}

function rolledOut({ kind, metadata }: Workload, replicas: number): WorkloadStatus {
  const observedGeneration = metadata.generation ?? 1;
  const conditions = [
    { type: kind === "Job" ? "Complete" : kind === "Service" ? "Ready" : "Available", status: "True" },
  ];
  if (kind === "DaemonSet") {
    return {
      observedGeneration,
      desiredNumberScheduled: replicas,
      updatedNumberScheduled: replicas,
      numberReady: replicas,
      numberAvailable: replicas,
    };
  }
  if (kind === "Service") return { observedGeneration, conditions, url: `http://${metadata.name}.shop.example.com` };
  return {
    observedGeneration,
    conditions,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  };
}

function addReplicaSet(world: SimulatedCluster, name: string, deployment: string, named: Words["named"]): void {
  world.replicaSets.set(name, {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name,
      annotations: { "deployment.kubernetes.io/revision": named["revision"] ?? "1" },
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "Deployment", name: deployment, uid: deployment, controller: true },
      ],
    },
  });
}

/** `unschedulable "…"`, `starting`, `running`, `ready`, `waiting REASON [message=]`, `crashed [exit=] [restarts=] [oom]`. */
function podStatus(
  state: string,
  detail: string,
  world: SimulatedCluster,
  named: Words["named"],
): NonNullable<Pod["status"]> {
  const at = { lastTransitionTime: world.now };
  const scheduled = { type: "PodScheduled", status: "True", ...at };
  const notReady = { type: "Ready", status: "False", ...at };
  const container = { name: "function", image: "registry.local/order:1", restartCount: Number(named["restarts"] ?? 0) };
  const made = (one: object, ready = false): NonNullable<Pod["status"]> => ({
    phase: ready ? "Running" : "Pending",
    conditions: [scheduled, ready ? { ...notReady, status: "True" } : notReady],
    containerStatuses: [{ ...container, ready, ...one }],
  });
  switch (state) {
    case "unschedulable":
      return {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: detail, ...at }],
      };
    case "starting":
      return made({ state: { waiting: { reason: "ContainerCreating" } } });
    case "running":
      return made({ state: { running: { startedAt: world.now } } });
    case "ready":
      return made({ state: { running: { startedAt: world.now } } }, true);
    case "waiting":
      return made({ state: { waiting: { reason: detail, message: named["message"] ?? "" } } });
    case "crashed":
      return made({
        state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s restarting failed container" } },
        lastState: {
          terminated: {
            exitCode: Number(named["exit"] ?? 1),
            reason: detail === "oom" ? "OOMKilled" : "Error",
            message: named["message"] ?? "",
          },
        },
      });
    case "relapsing":
      return made({
        state: { running: { startedAt: world.now } },
        lastState: { terminated: { exitCode: Number(named["exit"] ?? 1), reason: "Error" } },
      });
    default:
      throw new Error(`unknown pod state: ${state}`);
  }
}

function addNode(world: SimulatedCluster, name: string, ready: boolean): void {
  const condition = { type: "Ready", status: ready ? "True" : "Unknown", lastTransitionTime: world.now };
  world.nodes.set(name, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    status: { conditions: [ready ? condition : { ...condition, message: "Kubelet stopped posting node status." }] },
  });
}

function addEvent(
  world: SimulatedCluster,
  about: string,
  reason: string,
  message: string,
  named: Words["named"],
): void {
  const { kind, name } = refFrom(about);
  world.events.push({
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: `event-${world.events.length}` },
    type: named["type"] ?? "Warning",
    reason,
    note: message,
    regarding: { kind, name },
    eventTime: world.now,
    series: { count: Number(named["count"] ?? 1), lastObservedTime: world.now },
  });
}

function monitoringOf(state: string, kind: string): SimulatedCluster["monitoring"] {
  if (state === "off") return undefined;
  if (state === "disabled") return { state };
  return state === "missing-kinds" ? { state, kinds: [kind] } : { state: "monitored", kind };
}
