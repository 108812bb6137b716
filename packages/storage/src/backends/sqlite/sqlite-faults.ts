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

/** Whether the file must be opened again, because its state on disk is unknown. */
export function needsReopen(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.context["reopen"] === true;
}

/** Converts an error of opening the file to a fault. */
export function openFault(file: string, thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = sqliteCode(thrown);
  const isFile = code === CODE.readOnly || code === CODE.cannotOpen || isFileError(thrown);
  return isFile ? cannotOpen(file, thrown) : tableFault(file, thrown);
}

/**
 * Converts an error of a statement to a fault.
 *
 * `reopen` in the context marks faults after which the file must be opened again, `damaged` those after which it cannot
 * be used any more.
 */
export function tableFault(file: string, thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  switch (sqliteCode(thrown) ?? 0) {
    case CODE.full:
      return fullFault("the database's disk or quota", thrown);
    case CODE.corrupt:
    case CODE.notADatabase:
      return damagedFault(file, { cause: thrown });
    case CODE.ioError:
    case CODE.readOnly:
    case CODE.cannotOpen:
      return unavailable("the database file", `${file} cannot be read or written: ${reasonOf(thrown)}`, {
        cause: thrown,
        context: { file, reopen: true },
      });
    default:
      return Fault.from(thrown);
  }
}

/** Converts an error of COMMIT to a fault. After an I/O error the transaction may be in the file. */
export function commitFault(file: string, thrown: unknown): Fault {
  const fault = tableFault(file, thrown);
  if (!needsReopen(fault)) return fault;
  return fault.with({
    message: `${fault.message}; the write may have been applied: read again before repeating it`,
    context: { ...fault.context, outcomeUnknown: true },
  });
}

/** Fault of a file whose content is invalid. */
export function damagedFault(file: string, reason: { readonly cause?: unknown; readonly damage?: string } = {}): Fault {
  return internal(`the database file ${file} is damaged`, {
    code: "OAAS_STORE_CORRUPT",
    cause: reason.cause,
    context: { file, damaged: true, damage: reason.damage },
  });
}

/** Fault of the calls while the file is closed after an I/O error. */
export function reopeningFault(file: string, cause: Fault): Fault {
  return unavailable("the database file", `${cause.message}; it is being opened again`, {
    cause,
    context: { file },
    retryAfterMs: 1_000,
  });
}

/** SQLite's description of an error, such as "disk I/O error". */
function reasonOf(thrown: unknown): string {
  return (thrown as { errstr?: string }).errstr ?? (thrown as Error).message;
}

function cannotOpen(file: string, cause: unknown): Fault {
  const reason = isFileError(cause) ? cause.code : "it may be a folder, or it or its folder is not writable";
  return failedPrecondition("database file", `${file} cannot be opened for writing (${reason})`, { cause });
}

function isFileError(thrown: unknown): thrown is NodeJS.ErrnoException & { code: string } {
  return thrown instanceof Error && typeof (thrown as NodeJS.ErrnoException).syscall === "string";
}
