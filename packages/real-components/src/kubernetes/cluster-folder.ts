import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { componentFile } from "../components/cache/component-file.ts";
import type { ComponentFileName } from "../components/manifest.ts";
import { untilReady } from "../process/ready.ts";
import { endRegistered } from "../process/warden/register.ts";
import { startProcess, type RunningProcess } from "../process/running-process.ts";

/** Port and token of an earlier start in the same folder, which clients may still use. */
export interface PreviousStart {
  readonly port?: number;
  readonly token?: string;
}

/** Prepares the folder for a start: stops processes left by a crash and moves the logs of the last start aside. */
export async function prepareFolder(folder: string): Promise<PreviousStart> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await endRegistered(registerIn(folder));
  const logs = (await readdir(folder)).filter((file) => file.endsWith(".log"));
  await Promise.all(logs.map((file) => rename(join(folder, file), join(folder, `${file}.previous`))));
  return readPreviousStart(await readFile(join(folder, "kubeconfig"), "utf8").catch(() => ""));
}

/** One program of a cluster and its readiness check. */
export interface ClusterProgram {
  readonly program: ComponentFileName;
  readonly args: readonly string[];
  readonly isReady: () => Promise<boolean>;
}

/**
 * Starts a program in the cluster's folder, with `<program>.log` and an entry in the process register there. Resolves
 * when it is ready; otherwise stops it and throws with the end of its log.
 */
export async function startInFolder(
  folder: string,
  { program, args, isReady }: ClusterProgram,
): Promise<RunningProcess> {
  const running = await startProcess({
    name: program,
    command: componentFile(program),
    args,
    cwd: folder,
    logFile: join(folder, `${program}.log`),
    register: registerIn(folder),
  });
  try {
    await untilReady(running, isReady);
    return running;
  } catch (error) {
    await running.stop(0);
    throw error;
  }
}

/** Reads the kubeconfig of an earlier start; ignores an invalid file. */
export function readPreviousStart(kubeconfig: string): PreviousStart {
  try {
    const config = JSON.parse(kubeconfig) as {
      clusters: { cluster: { server: string } }[];
      users: { user: { token: string } }[];
    };
    const port = Number(new URL(config.clusters[0]?.cluster.server ?? "").port);
    const token = config.users[0]?.user.token;
    return { ...(port > 0 ? { port } : {}), ...(token ? { token } : {}) };
  } catch {
    return {};
  }
}

function registerIn(folder: string): string {
  return join(folder, "processes");
}
