import type { ContainerRun, ContainerRuntime, RuntimeHost } from "@oaas/kube-apiserver";
import { findProgram, type LocalProgram } from "../../functions/local-programs.ts";
import { LocalProcess } from "./local-process.ts";

type PodOf = Parameters<ContainerRuntime["stateOf"]>[0];
type ContainerOf = Parameters<ContainerRuntime["stateOf"]>[1];

interface Run {
  readonly number: number;
  readonly process: LocalProcess | undefined;
  state: ContainerRun;
}

/** Programs at once, over all clusters of a stack. */
export const MAX_PROCESSES = 24;

/** Counts the programs of all clusters. */
export class ProcessLimit {
  #running = 0;

  /** Undefined at the limit, else a function that gives the place back. */
  enter(): (() => void) | undefined {
    if (this.#running >= MAX_PROCESSES) return undefined;
    this.#running += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#running -= 1;
      isOver = true;
    };
  }
}

/**
 * Runs containers with known images as programs on this machine: one for each run of a container. The kubelet of the
 * simulation decides about starts, restarts and their backoff; it sees the state of each program.
 */
export class LocalFunctions implements ContainerRuntime {
  readonly #programs: readonly LocalProgram[];
  readonly #limit: ProcessLimit;
  readonly #runs = new Map<string, Run>();
  #host: RuntimeHost | undefined;
  #unfollow: (() => void) | undefined;

  constructor(programs: readonly LocalProgram[], limit: ProcessLimit) {
    this.#programs = programs;
    this.#limit = limit;
  }

  stateOf(pod: PodOf, container: ContainerOf): ContainerRun | undefined {
    if (!findProgram(this.#programs, container.image ?? "")) return undefined;
    return this.#runs.get(keyOf(pod, container.name))?.state ?? { kind: "starting" };
  }

  serve: ContainerRuntime["serve"] = async (request) => {
    const run = this.#runs.get(keyOf(request.pod, request.container));
    if (run?.state.kind !== "ready" || !run.process) throw new Error("connect: connection refused");
    return run.process.serve(request);
  };

  start(host: RuntimeHost): void {
    this.#host = host;
    for (const pod of host.objects.list(PODS)) this.#observe(pod as unknown as PodOf);
    this.#unfollow = host.objects.onChange(({ kind, object, previous }) => {
      if (kind.resource !== PODS.resource || kind.group !== PODS.group) return;
      if (object) this.#observe(object as unknown as PodOf);
      else if (previous) this.#forget(previous as unknown as PodOf);
    });
  }

  stop(): void {
    this.#unfollow?.();
    for (const { process } of this.#runs.values()) process?.stop();
    this.#runs.clear();
  }

  #observe(pod: PodOf): void {
    for (const container of pod.spec?.containers ?? []) {
      const program = findProgram(this.#programs, container.image ?? "");
      const status = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
      if (!program || !status?.state.running || pod.metadata.deletionTimestamp !== undefined) continue;
      const key = keyOf(pod, container.name);
      if (this.#runs.get(key)?.number === status.restartCount) continue;
      this.#runs.get(key)?.process?.stop();
      this.#run(pod, container, { program, number: status.restartCount });
    }
    if (pod.metadata.deletionTimestamp !== undefined) this.#forget(pod);
  }

  #run(pod: PodOf, container: ContainerOf, { program, number }: { program: LocalProgram; number: number }): void {
    const key = keyOf(pod, container.name);
    const leave = this.#limit.enter();
    const log = (text: string): void => this.#host?.append(pod, container.name, number, text);
    if (!leave) {
      this.#runs.set(key, { number, process: undefined, state: { kind: "starting" } });
      log(`not started: the stack runs at most ${MAX_PROCESSES} local programs; scale down, then delete this pod`);
      return;
    }
    const change = (state: ContainerRun): void => {
      if (run.state.kind !== "exited") run.state = state;
      if (this.#runs.get(key) === run) this.#host?.changed(pod);
    };
    const process = new LocalProcess({
      file: program.file,
      env: environmentOf(container),
      onOutput: log,
      onReady: () => change({ kind: "ready" }),
      onExit: (exitCode) => {
        leave();
        log(`exited with code ${exitCode}`);
        change({ kind: "exited", exitCode });
      },
    });
    const run: Run = { number, process, state: { kind: "starting" } };
    this.#runs.set(key, run);
  }

  #forget(pod: PodOf): void {
    for (const { name } of pod.spec?.containers ?? []) {
      const key = keyOf(pod, name);
      this.#runs.get(key)?.process?.stop();
      this.#runs.delete(key);
    }
  }
}

const PODS = { group: "", resource: "pods" };

function keyOf(pod: PodOf, container: string): string {
  return `${pod.metadata.uid}/${container}`;
}

/** The variables of the container; nothing of the stack's own environment. */
function environmentOf({ env = [] }: ContainerOf): Readonly<Record<string, string>> {
  return Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}
