import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { failedPrecondition, type Fault } from "@oaas/foundation";

/** Checks that the address is free; throws a fault that names the process that uses it and the fix. */
export async function assertPortFree(host: string, port: number, flag = "--server-port"): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenFault(error, host, port, flag)));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

export function isPortFree(host: string, port: number): Promise<boolean> {
  return assertPortFree(host, port).then(
    () => true,
    () => false,
  );
}

/** Explains a failed listen and names the flag for another port. */
export function listenFault(error: NodeJS.ErrnoException, host: string, port: number, flag: string): Fault {
  const where = `${host}:${port}`;
  const another = `npm start -- ${flag}=8090`;
  const remedies: Record<string, () => string> = {
    EADDRINUSE: () =>
      `${where} is in use by ${findPortUser(port) ?? "another process"}. Stop it, or choose another port: ${another} (0 selects a free port, --ports=9000 changes all ports)`,
    EACCES: () => `permission denied to listen on ${where}. Choose a port above 1023: ${another}`,
    EADDRNOTAVAIL: () =>
      `${host} is not an address of this machine. Use 127.0.0.1: npm start -- --server-host=127.0.0.1`,
  };
  const message = remedies[error.code ?? ""]?.() ?? `cannot listen on ${where}: ${error.message}`;
  return failedPrecondition(where, message, { cause: error });
}

const LISTENING = "0A";

/** The process that listens on a port, as `process 123 (node server.js)`. Linux only; undefined if unknown. */
export function findPortUser(port: number): string | undefined {
  try {
    const sockets = new Set(["tcp", "tcp6"].flatMap((table) => listeningSockets(port, readTable(table))));
    const pid = sockets.size === 0 ? undefined : pids().find((one) => hasSocket(one, sockets));
    return pid === undefined ? undefined : `process ${pid}${commandOf(pid)}`;
  } catch {
    // Not Linux.
    return undefined;
  }
}

function readTable(table: string): string {
  return readFileSync(`/proc/net/${table}`, "utf8");
}

/** The inodes of the sockets that listen on a port, from a kernel table. */
export function listeningSockets(port: number, table: string): readonly string[] {
  return table
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = "", , state]) => state === LISTENING && Number.parseInt(local.split(":")[1] ?? "", 16) === port)
    .map((fields) => `socket:[${fields[9] ?? ""}]`);
}

function pids(): readonly string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

function hasSocket(pid: string, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(readLink(`/proc/${pid}/fd/${fd}`)));
  } catch {
    // The process has exited or belongs to another user.
    return false;
  }
}

function readLink(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    // Closed in the meantime.
    return "";
  }
}

const MAX_COMMAND_LENGTH = 60;

function commandOf(pid: string): string {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
    return command === ""
      ? ""
      : ` (${command.length > MAX_COMMAND_LENGTH ? `${command.slice(0, MAX_COMMAND_LENGTH)}…` : command})`;
  } catch {
    return "";
  }
}
