import {
  chmodSync,
  closeSync,
  createReadStream,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { Fault, unavailable } from "@oaas/foundation";
import { realClock, realTimers } from "@oaas/foundation/real";
import { UsageError } from "../exit-code.ts";
import type { FileReplacement, Files, Terminal, ProcessEnvironment } from "../process-environment.ts";
import { sendHttp, streamHttp } from "./http.ts";
import { writeSyncTo } from "./write-sync.ts";

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const PUBLIC_FOLDER = 0o777;
const OTHERS_MASK = 0o077;

/** The environment of this Node process. */
export function createNodeEnvironment(signal: AbortSignal): ProcessEnvironment {
  return {
    terminal: createTerminal(signal),
    files: nodeFiles,
    env: process.env,
    home: homedir(),
    fetch: sendHttp,
    stream,
    // Loaded on use: gRPC takes longer to load than most commands take.
    openStore: async (address) => (await import("./store-connection.ts")).connectStore(address),
    clock: realClock,
    timers: realTimers,
    signal,
  };
}

function createTerminal(signal: AbortSignal): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    out: (text) => writeSyncTo(1, text),
    err: (text) => writeSyncTo(2, text),
    isInteractive: stderr.isTTY && stdout.isTTY,
    canPrompt: stdin.isTTY && stderr.isTTY,
    columns: stdout.columns || 80,
    prompt: async (question, { isSecret = false } = {}) => {
      const [{ createInterface }, { Writable }] = await Promise.all([
        import("node:readline/promises"),
        import("node:stream"),
      ]);
      // The readline interface echoes the input; for a secret it writes nowhere. It is created before the question is
      // printed, so that the terminal does not echo a fast answer either.
      const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
      const reader = createInterface({ input: stdin, output: isSecret ? nowhere : stderr, terminal: true });
      if (isSecret) writeSyncTo(2, question);
      // In raw mode the terminal sends no signal for Ctrl-C; Ctrl-D closes the reader without an answer.
      const interrupt = (): void => {
        writeSyncTo(2, "\n");
        process.kill(process.pid, "SIGINT");
      };
      reader.once("close", interrupt);
      try {
        return await reader.question(isSecret ? "" : question, { signal });
      } finally {
        reader.off("close", interrupt);
        reader.close();
        if (isSecret) writeSyncTo(2, "\n");
      }
    },
    readStdin: async () => {
      const parts: Buffer[] = [];
      for await (const part of stdin) parts.push(part as Buffer);
      return Buffer.concat(parts).toString("utf8");
    },
  };
}

// Synchronous calls: nothing runs concurrently here, and fs/promises would have to be loaded first.
const nodeFiles: Files = {
  read: async (file) => {
    try {
      return readFileSync(file, "utf8");
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new UsageError(`cannot read ${file}: ${(thrown as Error).message}`, "check the path and its permissions");
    }
  },
  writePrivate: async (file, text) => {
    try {
      createFolder(path.dirname(file));
      const next = `${file}.${process.pid}`;
      writeFileSync(next, text, { mode: PRIVATE_FILE });
      chmodSync(next, PRIVATE_FILE);
      renameSync(next, file);
    } catch (thrown) {
      throw new UsageError(
        `cannot write ${file}: ${(thrown as Error).message}`,
        "check the path and its permissions, or choose another file with OAAS_CONFIG",
      );
    }
  },
  writeTogether: async (texts) => {
    const staged = [...texts].map(([file, text]) => ({ file, text, next: `${file}.${process.pid}` }));
    try {
      for (const { file, text, next } of staged) {
        createFolder(path.dirname(file), PUBLIC_FOLDER);
        writeFileSync(next, text);
      }
      for (const { file, next } of staged) renameSync(next, file);
    } catch (thrown) {
      for (const { next } of staged) rmSync(next, { force: true });
      throw new UsageError(`cannot write: ${(thrown as Error).message}`, "check the folder and its permissions");
    }
  },
  readLines: readFileLines,
  exists: async (file) => statSync(file, { throwIfNoEntry: false }) !== undefined,
  replace: replaceFile,
  isOwnerOnly: async (file) => {
    if (process.platform === "win32") return true;
    return (statSync(file).mode & OTHERS_MASK) === 0;
  },
  list: async (folder) => {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort();
  },
};

async function* readFileLines(file: string): AsyncGenerator<string> {
  const chunks = createReadStream(file, { encoding: "utf8", highWaterMark: 1024 * 1024 });
  let rest: string[] = [];
  try {
    for await (const chunk of chunks) {
      const [first = "", ...others] = (chunk as string).split("\n");
      rest.push(first);
      if (others.length === 0) continue;
      yield rest.join("");
      yield* others.slice(0, -1);
      rest = others.slice(-1);
    }
  } catch (thrown) {
    throw new UsageError(`cannot read ${file}: ${(thrown as Error).message}`, "check the path and its permissions");
  }
  const last = rest.join("");
  if (last !== "") yield last;
}

/** Texts are collected up to this length before they are written. */
const WRITE_CHARACTERS = 1024 * 1024;

function replaceFile(file: string): FileReplacement {
  // One name for all runs: a killed one leaves at most one file behind, which the next one replaces.
  const next = `${file}.partial`;
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      throw new UsageError(
        `cannot write ${file}: ${(thrown as Error).message}`,
        "check the folder and its permissions",
      );
    }
  };
  const descriptor = attempt(() => {
    createFolder(path.dirname(path.resolve(file)), PUBLIC_FOLDER);
    rmSync(next, { force: true });
    return openSync(next, "wx", PRIVATE_FILE);
  });
  let waiting: string[] = [];
  let length = 0;
  const flush = (): void => {
    let bytes = Buffer.from(waiting.join(""));
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(descriptor, bytes));
    [waiting, length] = [[], 0];
  };
  return {
    write: (text) => {
      waiting.push(text);
      length += text.length;
      if (length >= WRITE_CHARACTERS) attempt(flush);
    },
    commit: () =>
      attempt(() => {
        flush();
        fsyncSync(descriptor);
        closeSync(descriptor);
        renameSync(next, file);
      }),
    discard: () => {
      closeSync(descriptor);
      rmSync(next, { force: true });
    },
  };
}

/** Creates each missing folder by itself: Node's recursive mkdir never returns in /proc. */
function createFolder(folder: string, mode = PRIVATE_FOLDER): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (path.dirname(folder) !== folder) createFolder(path.dirname(folder), mode);
  mkdirSync(folder, { mode });
}

async function* stream(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  try {
    const refused = yield* streamHttp(url, headers, signal);
    if (refused === undefined) return;
    const { faultFromResponse } = await import("@oaas/contracts/rest");
    throw faultFromResponse({ ...refused, nowMs: realClock.now() });
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw unavailable("package-manager", `the package manager did not respond at ${url}`, { cause });
  }
}
