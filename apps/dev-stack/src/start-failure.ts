import { Fault, type FaultCode } from "@oaas/foundation";

/** What to do about a start that failed, where the fault itself does not say. */
const REMEDIES: Partial<Record<FaultCode, string>> = {
  OAAS_STORE_IN_USE:
    "A local stack runs on this folder: look with oaas status, stop it with oaas down, or choose another folder with --data=…",
  OAAS_STORE_NEWER_SCHEMA:
    "Start it with the version that wrote it, choose another folder with --data=…, or begin anew with oaas reset",
  OAAS_STORE_FULL:
    "Make room on that disk and start again, or choose a folder on another with --data=…; nothing was lost",
  OAAS_STORE_CORRUPT: "Bring back a copy of the folder, or begin anew with oaas reset",
};

const FILE_TROUBLES: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full. Make room and start again, or choose a folder on another with --data=…; nothing was lost",
  EDQUOT: "your quota on that disk is used up. Make room and start again, or choose another folder with --data=…",
  EROFS: "that disk cannot be written. Choose another folder with --data=…",
  EACCES: "this user may not write there. Choose another folder with --data=…",
  EMFILE: "too many files are open. Raise the limit (ulimit -n) and start again",
};

/** What a person reads when the stack could not start: the reason and the remedy; for a mistake of ours, where it is. */
export function startFailure(thrown: unknown): string {
  const trouble = fileTrouble(thrown) ?? diskTrouble(thrown);
  if (trouble !== undefined) return trouble;
  const fault = Fault.from(thrown);
  if (fault.kind === "internal" && fault.cause instanceof Error) {
    return fileTrouble(fault.cause) ?? fault.cause.stack ?? fault.message;
  }
  const remedy = REMEDIES[fault.code];
  return remedy === undefined ? fault.message : `${fault.message}\n${remedy}`;
}

/** A disk that takes nothing is told as such, whatever was to be written to it. */
function diskTrouble(thrown: unknown): string | undefined {
  for (let link = thrown; link instanceof Error; link = link.cause) {
    if (DISK_TROUBLES.has((link as NodeJS.ErrnoException).code ?? "")) return fileTrouble(link);
  }
  return undefined;
}

const DISK_TROUBLES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS"]);

function fileTrouble(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code = "", path } = thrown as NodeJS.ErrnoException;
  const words = FILE_TROUBLES[code];
  return words === undefined ? undefined : `${path ?? "The data folder"}: ${words}`;
}
