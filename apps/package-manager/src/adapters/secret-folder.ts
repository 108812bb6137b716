import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import { err, ok } from "@oaas/foundation";
import type { TextProblem } from "@oaas/models";
import type { SecretFolder } from "../ports.ts";

/**
 * The files of one folder and its sub-folders; none without a folder.
 *
 * This process reads the file and sends its content to an address that the caller chose as well. Without the restriction a caller could
 * read every file of this process.
 */
export function secretFolder(folder: string | undefined): SecretFolder {
  if (folder === undefined) return { find: () => err(NO_FOLDER) };
  return {
    find: (name) => {
      const file = path.resolve(folder, name);
      if (!isWithin(path.resolve(folder), file)) return err(OUTSIDE);
      try {
        if (!isWithin(realpathSync(folder), realpathSync(file))) return err(OUTSIDE);
        return statSync(file).isFile() ? ok(file) : err({ ...OUTSIDE, message: "is not a file" });
      } catch (thrown) {
        const why = (thrown as NodeJS.ErrnoException).code ?? "read failed";
        return err({ message: `cannot be read in CRM_SECRETS_DIR: ${why}`, fix: "put the file there first" });
      }
    },
  };
}

const NO_FOLDER: TextProblem = {
  message: "references a file on the host of the package manager, but CRM_SECRETS_DIR is not set",
  fix: "set CRM_SECRETS_DIR to a folder with these files, or declare the cluster in the configuration",
};

const OUTSIDE: TextProblem = {
  message: "is outside of the folder CRM_SECRETS_DIR",
  fix: "use a path relative to that folder",
};

function isWithin(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== "" && relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
