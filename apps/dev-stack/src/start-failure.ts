import { Fault, type FaultCode } from "@oaas/foundation";

/** The fix for each fault code that has none in its message. */
const FIXES: Partial<Record<FaultCode, string>> = {
  OAAS_STORE_IN_USE:
    "Another local stack uses this folder: see oaas status, stop it with oaas down, or choose another folder with --data=…",
  OAAS_STORE_NEWER_SCHEMA:
    "Start it with the version that wrote it, choose another folder with --data=…, or delete the data with oaas reset",
  OAAS_STORE_FULL:
    "Free some space and start again, or choose a folder on another disk with --data=…; no data was lost",
  OAAS_STORE_CORRUPT: "Restore a backup of the folder, or delete the data with oaas reset",
};

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC:
    "the disk is full. Free some space and start again, or choose a folder on another disk with --data=…; no data was lost",
  EDQUOT: "the disk quota is exceeded. Free some space and start again, or choose another folder with --data=…",
  EROFS: "the disk is read-only. Choose another folder with --data=…",
  EACCES: "permission denied. Choose another folder with --data=…",
  EMFILE: "too many open files. Raise the limit (ulimit -n) and start again",
};

/** Formats a failed start: the reason and the fix; for an internal error, the stack trace. */
export function startFailureText(thrown: unknown): string {
  const text = fileErrorText(thrown) ?? diskErrorText(thrown);
  if (text !== undefined) return text;
  const fault = Fault.from(thrown);
  if (fault.kind === "internal" && fault.cause instanceof Error) {
    return fileErrorText(fault.cause) ?? fault.cause.stack ?? fault.message;
  }
  const fix = FIXES[fault.code];
  return fix === undefined ? fault.message : `${fault.message}\n${fix}`;
}

/** Finds a disk error in the chain of causes. */
function diskErrorText(thrown: unknown): string | undefined {
  for (let link = thrown; link instanceof Error; link = link.cause) {
    if (DISK_ERROR_CODES.has((link as NodeJS.ErrnoException).code ?? "")) return fileErrorText(link);
  }
  return undefined;
}

const DISK_ERROR_CODES: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS"]);

function fileErrorText(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code = "", path } = thrown as NodeJS.ErrnoException;
  const text = FILE_ERRORS[code];
  return text === undefined ? undefined : `${path ?? "The data folder"}: ${text}`;
}
