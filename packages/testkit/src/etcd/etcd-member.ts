import { componentFile, probe, startProcess, untilReady, type RunningProcess } from "@oaas/real-components";

/** One etcd member. Its data survives `kill` and `stop`, and `start` uses it again. */
export interface EtcdMember {
  readonly name: string;
  readonly clientUrl: string;
  /** Crashes it with SIGKILL. */
  kill(): Promise<void>;
  /** Stops it gracefully. */
  stop(): Promise<void>;
  /** Restarts it and waits until it serves; without a quorum, until it responds. */
  start(): Promise<void>;
  /** Pauses the process: connections stay open and requests hang. */
  freeze(): void;
  thaw(): void;
  /** The last lines of its log. */
  logTail(): Promise<string>;
}

export interface MemberPlan {
  readonly name: string;
  readonly version: "3.6" | "3.4";
  readonly folder: string;
  readonly clientUrl: string;
  readonly healthUrl: string;
  readonly args: readonly string[];
  /** Whether this member, once started, can expect a leader. */
  readonly hasQuorum: () => boolean;
}

export interface RunningMember extends EtcdMember {
  readonly isRunning: boolean;
  /** Starts the process without waiting for anything. */
  launch(): Promise<void>;
  untilHealthy(): Promise<void>;
}

/** Creates a member without starting it. */
export function createEtcdMember(plan: MemberPlan): RunningMember {
  let current: RunningProcess | undefined;
  const isRunning = (): boolean => current !== undefined && current.exit === undefined;
  const launch = async (): Promise<void> => {
    if (isRunning()) return;
    current = await startProcess({
      name: `etcd ${plan.version} ${plan.name}`,
      command: componentFile(plan.version === "3.4" ? "etcd34" : "etcd"),
      args: plan.args,
      cwd: plan.folder,
      logFile: `${plan.folder}/${plan.name}.log`,
    });
  };
  const untilHealthy = async (): Promise<void> => {
    if (!current) return;
    await untilReady(current, async () => {
      const { status } = await probe(`${plan.healthUrl}/health`);
      return status === 200 || !plan.hasQuorum();
    });
  };
  return {
    name: plan.name,
    clientUrl: plan.clientUrl,
    get isRunning() {
      return isRunning();
    },
    launch,
    untilHealthy,
    start: async () => {
      await launch();
      await untilHealthy();
    },
    kill: async () => void (await current?.stop(0)),
    stop: async () => void (await current?.stop()),
    freeze: () => current?.freeze(),
    thaw: () => current?.signal("SIGCONT"),
    logTail: async () => (await current?.logTail()) ?? "",
  };
}
