import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { componentFile } from "../components/component-file.ts";
import type { ComponentFileName } from "../components/manifest.ts";
import { untilReady } from "../process/ready.ts";
import { endRegistered } from "../process/register.ts";
import { startProcess, type RunningProcess } from "../process/running-process.ts";

/** What an earlier start in the same folder used, and its clients may still have. */
export interface EarlierStart {
  readonly port?: number;
  readonly token?: string;
}

/** Makes the folder ready for a start: ends what a crash left running, and puts the logs of the last start aside. */
export async function prepareFolder(folder: string): Promise<EarlierStart> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await endRegistered(registerIn(folder));
  const logs = (await readdir(folder)).filter((file) => file.endsWith(".log"));
  await Promise.all(logs.map((file) => rename(join(folder, file), join(folder, `${file}.previous`))));
  return earlierStart(await readFile(join(folder, "kubeconfig"), "utf8").catch(() => ""));
}

/** One program of a cluster, and how it shows that it is ready. */
export interface ClusterProgram {
  readonly program: ComponentFileName;
  readonly args: readonly string[];
  readonly isReady: () => Promise<boolean>;
}

/**
 * Starts a program that works in the cluster's folder, writes `<program>.log` there and is noted there. Resolves when it is
 * ready; when it does not become so, it is ended and the end of its log is shown.
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

/** Reads the kubeconfig that a start wrote; a file that is none was not written by one. */
export function earlierStart(kubeconfig: string): EarlierStart {
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
