import { failedPrecondition, Fault, internal, unavailable } from "@oaas/foundation";
import { fullFault } from "../../port/store-faults.ts";

/** Primary result codes of SQLite. */
const CODE = { busy: 5, readOnly: 8, ioError: 10, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 } as const;

/** Returns the primary result code of SQLite; undefined for other errors. */
function sqliteCode(thrown: unknown): number | undefined {
  const code = (thrown as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

export function isBusy(thrown: unknown): boolean {
  return sqliteCode(thrown) === CODE.busy;
}

/**
 * Converts an error of SQLite or of the file system to a fault.
 *
 * `reopen` in the context marks faults after which the state of the file is unknown until it is opened again.
 */
export function sqliteFault(file: string, thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const reopen = { cause: thrown, context: { file, reopen: true } };
  switch (sqliteCode(thrown) ?? 0) {
    case CODE.full:
      return fullFault("the database's disk or quota", thrown);
    case CODE.corrupt:
    case CODE.notADatabase:
      return internal(`the database file ${file} is damaged`, { ...reopen, code: "OAAS_STORE_CORRUPT" });
    case CODE.ioError:
      return unavailable("the database file", `${file} cannot be read or written; open it again`, reopen);
    case CODE.readOnly:
    case CODE.cannotOpen:
      return cannotOpen(file, thrown);
    default:
      return isFileError(thrown) ? cannotOpen(file, thrown) : Fault.from(thrown);
  }
}

function cannotOpen(file: string, cause: unknown): Fault {
  const why = isFileError(cause) ? cause.code : "it may be a folder, or it or its folder is not writable";
  return failedPrecondition("database file", `${file} cannot be opened for writing (${why})`, { cause });
}

function isFileError(thrown: unknown): thrown is NodeJS.ErrnoException & { code: string } {
  return thrown instanceof Error && typeof (thrown as NodeJS.ErrnoException).syscall === "string";
}
