import { open, rename, stat, type FileHandle } from "node:fs/promises";
import { failedPrecondition, type Clock } from "@oaas/foundation";
import type { AuditSink } from "../../access/audit-queue.ts";
import { linesOf } from "./stdout-sink.ts";

export interface FileSinkOptions {
  readonly file: string;
  /** A larger file is renamed with the time in milliseconds as its ending, and a new one is begun. */
  readonly maxBytes: number;
  readonly clock: Clock;
}

const OWNER_ONLY = 0o600;

/**
 * Appends audit lines to a file that only its owner can read.
 *
 * *Guarantees*: a batch is written as a whole or not at all. A file that was renamed or deleted, by this process, another worker or
 * logrotate, is created again with the next batch.
 */
export function createFileSink({ file, maxBytes, clock }: FileSinkOptions): AuditSink {
  let handle: FileHandle | undefined;
  const opened = async (): Promise<FileHandle> => {
    if (handle !== undefined && (await isSameFile(handle, file))) return handle;
    await handle?.close();
    handle = undefined;
    handle = await openPrivate(file);
    return handle;
  };
  return {
    write: async (entries) => {
      const bytes = Buffer.from(linesOf(entries));
      let current = await opened();
      let { size } = await current.stat();
      if (size > 0 && size + bytes.length > maxBytes) {
        await rename(file, await freeName(file, clock.now()));
        current = await opened();
        ({ size } = await current.stat());
      }
      await appendWhole(current, bytes, size);
    },
    close: async () => {
      await handle?.close();
      handle = undefined;
    },
  };
}

async function openPrivate(file: string): Promise<FileHandle> {
  const handle = await open(file, "a", OWNER_ONLY).catch((thrown: NodeJS.ErrnoException) => {
    throw failedPrecondition(file, `AUDIT_FILE: ${file} cannot be opened: ${thrown.code ?? "unknown error"}`, {
      cause: thrown,
    });
  });
  await handle.chmod(OWNER_ONLY);
  return handle;
}

/** The name of a full file: ends with the time in milliseconds, or the next one without a file. */
async function freeName(file: string, timeMs: number): Promise<string> {
  const name = `${file}.${timeMs}`;
  const isTaken = await stat(name).then(
    () => true,
    () => false,
  );
  return isTaken ? freeName(file, timeMs + 1) : name;
}

async function isSameFile(handle: FileHandle, file: string): Promise<boolean> {
  const [own, current] = await Promise.all([handle.stat(), stat(file).catch(() => undefined)]);
  return own.ino === current?.ino && own.dev === current.dev;
}

/** A full disk may accept a part of the bytes, which would leave a broken line. */
async function appendWhole(handle: FileHandle, bytes: Buffer, sizeBefore: number): Promise<void> {
  try {
    await handle.appendFile(bytes);
  } catch (thrown) {
    await handle.truncate(sizeBefore).catch(() => undefined);
    throw thrown;
  }
}
