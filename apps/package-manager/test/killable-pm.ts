import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { RecordedCall, ScriptedCrm, ScriptedMethod } from "./fakes/scripted-crm.ts";
import { runPm, type PmProcess } from "./pm-process.ts";

const PROGRAM = fileURLToPath(import.meta.resolve("./programs/killable-pm.ts"));

/** The store write or cluster call at which the process is killed, before or after its effect. */
export interface KillPoint {
  readonly nth: number;
  readonly moment: "before" | "after";
}

interface KillFiles {
  readonly writes: string;
  readonly killPoint: string;
}

/** Calls that change a cluster, or that a roll-out waits for. */
const COUNTED: ReadonlySet<ScriptedMethod> = new Set(["Deploy", "DeleteDeployment", "GetClassRuntime"] as const);

/** A package manager process that is killed at a given point; its clusters keep running. */
export class KillablePm {
  pm: PmProcess;
  /** The number of counted calls to clusters. */
  calls = 0;
  readonly #start: () => Promise<PmProcess>;
  readonly #files: KillFiles;
  #callToKillAt: KillPoint | undefined;

  private constructor(start: () => Promise<PmProcess>, pm: PmProcess, files: KillFiles) {
    this.#start = start;
    this.pm = pm;
    this.#files = files;
  }

  static async start(folder: string, crms: readonly ScriptedCrm[], env: Record<string, string>): Promise<KillablePm> {
    const id = crypto.randomUUID();
    const files = { writes: path.join(folder, `${id}.writes`), killPoint: path.join(folder, `${id}.kill-point`) };
    writeFileSync(files.writes, "");
    const clusters = Object.fromEntries(crms.map(({ facts, url }) => [facts.name, { url }]));
    const start = () =>
      runPm({
        folder,
        program: PROGRAM,
        env: {
          CRM_CLUSTERS_JSON: JSON.stringify(clusters),
          CRM_HEALTH_CHECK_INTERVAL: "500ms",
          DEPLOY_RECONCILE_INTERVAL: "1s",
          DEPLOY_WAIT: "60s",
          PLANNER_MAX_REPLICAS: "3",
          WRITES_FILE: files.writes,
          KILL_POINT_FILE: files.killPoint,
          ...env,
        },
      });
    const killable = new KillablePm(start, await start(), files);
    for (const crm of crms) crm.decide = (call) => killable.#decide(call);
    return killable;
  }

  /** The number of store writes, across restarts. */
  get writes(): number {
    return readFileSync(this.#files.writes).length;
  }

  killAtWrite({ nth, moment }: KillPoint): void {
    // Rename into place: a concurrent write reads the whole file or none.
    const draft = `${this.#files.killPoint}.draft`;
    writeFileSync(draft, JSON.stringify({ nth: this.writes + nth, moment }));
    renameSync(draft, this.#files.killPoint);
  }

  killAtCall({ nth, moment }: KillPoint): void {
    this.#callToKillAt = { nth: this.calls + nth, moment };
  }

  get isDead(): boolean {
    return this.pm.process.exit !== undefined;
  }

  /** Clears the kill point and restarts the process if it is dead. */
  async restart(): Promise<void> {
    rmSync(this.#files.killPoint, { force: true });
    this.#callToKillAt = undefined;
    if (this.isDead) this.pm = await this.#start();
  }

  async close(): Promise<void> {
    await this.pm.process.stop(0);
  }

  #decide({ method }: RecordedCall): { readonly do: "hang" | "swallow-answer" } | undefined {
    if (!COUNTED.has(method)) return undefined;
    this.calls += 1;
    if (this.calls !== this.#callToKillAt?.nth) return undefined;
    this.pm.process.signal("SIGKILL");
    return { do: this.#callToKillAt.moment === "before" ? "hang" : "swallow-answer" };
  }
}
