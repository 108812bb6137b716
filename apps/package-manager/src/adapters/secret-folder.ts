import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import { err, ok } from "@oaas/foundation";
import type { TextProblem } from "@oaas/models";
import type { SecretFolder } from "../ports.ts";

/**
 * The files of one folder, and of those in it; without a folder there are none.
 *
 * What a caller names is read by this process and sent to an address that the caller names as well: anywhere else it would be a way to read every
 * file that this process can.
 */
export function secretFolder(folder: string | undefined): SecretFolder {
  if (folder === undefined) return { find: () => err(NO_FOLDER) };
  return {
    find: (name) => {
      const file = path.resolve(folder, name);
      if (!isWithin(path.resolve(folder), file)) return err(OUTSIDE);
      try {
        if (!isWithin(realpathSync(folder), realpathSync(file))) return err(OUTSIDE);
        return statSync(file).isFile() ? ok(file) : err({ ...OUTSIDE, message: "is no file" });
      } catch (thrown) {
        const why = (thrown as NodeJS.ErrnoException).code ?? "it failed";
        return err({ message: `cannot be read in CRM_SECRETS_DIR: ${why}`, fix: "put the file there first" });
      }
    },
  };
}

const NO_FOLDER: TextProblem = {
  message: "names a file of the package manager's machine, and CRM_SECRETS_DIR is not set",
  fix: "set CRM_SECRETS_DIR to a folder of such files, or name the cluster in the configuration",
};

const OUTSIDE: TextProblem = {
  message: "leads out of the folder CRM_SECRETS_DIR",
  fix: "name a file in it, by its path from there",
};

function isWithin(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return way !== "" && way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
