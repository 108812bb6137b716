import { unavailable } from "@oaas/foundation";
import { PortInUse } from "./ready.ts";
import { warden } from "./warden/warden.ts";

/** A temporary folder of one component. */
export interface RunFolder {
  readonly path: string;
  /** Removes it. */
  remove(): Promise<void>;
  /** Keeps it on disk after this process ends, to inspect a failure. */
  keep(): Promise<void>;
}

/** Creates a temporary folder that is removed when this process ends, unless it is kept. */
export async function makeRunFolder(prefix: string): Promise<RunFolder> {
  const path = await warden().makeFolder(prefix);
  return { path, remove: () => warden().removeFolder(path), keep: () => warden().releaseFolder(path) };
}

/**
 * The fault of a failed start, after all its processes were stopped. Keeps and names the folder with the logs, unless
 * the start is retried on other ports.
 */
export async function startFailure(what: string, folder: RunFolder, thrown: unknown): Promise<Error> {
  if (thrown instanceof PortInUse) {
    await folder.remove();
    return thrown;
  }
  await folder.keep();
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return unavailable(what, `${what} did not start: ${message}\nIts files are in ${folder.path}`, { cause: thrown });
}
