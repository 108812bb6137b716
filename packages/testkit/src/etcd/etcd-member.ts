import { componentFile, probe, startProcess, untilReady, type RunningProcess } from "@oaas/real-components";

/** One member of an etcd under test. Its data outlives `kill` and `stop`; `start` brings it back with it. */
export interface EtcdMember {
  readonly name: string;
  readonly clientUrl: string;
  /** Ends it as a crash would: SIGKILL. */
  kill(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Starts it again and waits until it serves; without a quorum, until it answers at all. */
  start(): Promise<void>;
  /** Stops its clock, as a paused machine would: connections stay open and nothing answers. */
  freeze(): void;
  thaw(): void;
  /** The last lines of its log. */
  logTail(): Promise<string>;
}

/** All that distinguishes one member from another. */
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

/** A member that its cluster can ask whether it runs. */
export interface RunningMember extends EtcdMember {
  readonly isRunning: boolean;
  /** Starts the process without waiting for anything. */
  launch(): Promise<void>;
  untilHealthy(): Promise<void>;
}

/** Makes a member that is not running yet. */
export function etcdMember(plan: MemberPlan): RunningMember {
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
