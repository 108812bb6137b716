import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { RecordedCall, ScriptedCrm, ScriptedMethod } from "./fakes/scripted-crm.ts";
import { runPm, type PmProcess } from "./pm-process.ts";

const PROGRAM = fileURLToPath(import.meta.resolve("./programs/mortal-pm.ts"));

/** Which write to the store, or call to a cluster, it does not outlive, and on which side of its effect it dies. */
export interface Doom {
  readonly nth: number;
  readonly moment: "before" | "after";
}

interface DoomFiles {
  readonly writes: string;
  readonly doom: string;
}

/** Calls that change a cluster, or that a roll-out waits for. */
const COUNTED: ReadonlySet<ScriptedMethod> = new Set(["Deploy", "DeleteDeployment", "GetClassRuntime"] as const);

/** The package manager as a process that is killed where a test says, over clusters that outlive it. */
export class MortalPm {
  pm: PmProcess;
  /** Calls to clusters that were counted so far. */
  calls = 0;
  readonly #start: () => Promise<PmProcess>;
  readonly #files: DoomFiles;
  #doomedCall: Doom | undefined;

  private constructor(start: () => Promise<PmProcess>, pm: PmProcess, files: DoomFiles) {
    this.#start = start;
    this.pm = pm;
    this.#files = files;
  }

  static async start(folder: string, crms: readonly ScriptedCrm[], env: Record<string, string>): Promise<MortalPm> {
    const id = crypto.randomUUID();
    const files = { writes: path.join(folder, `${id}.writes`), doom: path.join(folder, `${id}.doom`) };
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
          DOOM_FILE: files.doom,
          ...env,
        },
      });
    const mortal = new MortalPm(start, await start(), files);
    for (const crm of crms) crm.decide = (call) => mortal.#decide(call);
    return mortal;
  }

  /** Writes to the store so far, over all its lives. */
  get writes(): number {
    return readFileSync(this.#files.writes).length;
  }

  killAtWrite({ nth, moment }: Doom): void {
    // Renamed into place: a write under way meanwhile finds the whole file, or none.
    const draft = `${this.#files.doom}.draft`;
    writeFileSync(draft, JSON.stringify({ nth: this.writes + nth, moment }));
    renameSync(draft, this.#files.doom);
  }

  killAtCall({ nth, moment }: Doom): void {
    this.#doomedCall = { nth: this.calls + nth, moment };
  }

  get isDead(): boolean {
    return this.pm.process.exit !== undefined;
  }

  /** No write or call kills it any more; started again if it is dead. */
  async revive(): Promise<void> {
    rmSync(this.#files.doom, { force: true });
    this.#doomedCall = undefined;
    if (this.isDead) this.pm = await this.#start();
  }

  async close(): Promise<void> {
    await this.pm.process.stop(0);
  }

  #decide({ method }: RecordedCall): { readonly do: "hang" | "swallow-answer" } | undefined {
    if (!COUNTED.has(method)) return undefined;
    this.calls += 1;
    if (this.calls !== this.#doomedCall?.nth) return undefined;
    this.pm.process.signal("SIGKILL");
    return { do: this.#doomedCall.moment === "before" ? "hang" : "swallow-answer" };
  }
}
