import { unavailable } from "@oaas/foundation";
import { PortTaken } from "./ready.ts";
import { warden } from "./warden.ts";

/** A temporary folder of one component. */
export interface RunFolder {
  readonly path: string;
  /** Removes it. */
  remove(): Promise<void>;
  /** Leaves it on disk, also after this process ends, so that a failure can be looked at. */
  keep(): Promise<void>;
}

/** Makes a fresh folder that disappears with this process, however it ends, unless it is kept. */
export async function makeRunFolder(prefix: string): Promise<RunFolder> {
  const path = await warden().makeFolder(prefix);
  return { path, remove: () => warden().removeFolder(path), keep: () => warden().releaseFolder(path) };
}

/**
 * The fault of a start that failed, after everything it had started was stopped. The folder with the logs is kept and
 * named, unless the start will be tried again on other ports.
 */
export async function startFailure(what: string, folder: RunFolder, thrown: unknown): Promise<Error> {
  if (thrown instanceof PortTaken) {
    await folder.remove();
    return thrown;
  }
  await folder.keep();
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return unavailable(what, `${what} did not start: ${message}\nIts folder is kept: ${folder.path}`, { cause: thrown });
}
