import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { failedPrecondition, type Fault } from "@oaas/foundation";

/** Checks that the address is free; throws a fault that names the process that uses it and the fix. */
export async function assertPortFree(host: string, port: number, flag = "--server-port"): Promise<void> {
  const error = await tryListen(host, port);
  if (error !== undefined) throw await listenFault(error, host, port, flag);
}

export async function isPortFree(host: string, port: number): Promise<boolean> {
  return (await tryListen(host, port)) === undefined;
}

function tryListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", resolve);
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

/** Explains a failed listen and suggests ports that are free, or the flag for another one. */
export async function listenFault(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  flag: string,
): Promise<Fault> {
  const message = await listenFailureText(error, host, port, flag);
  return failedPrecondition(`${host}:${port}`, message, { cause: error });
}

async function listenFailureText(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  flag: string,
): Promise<string> {
  const where = `${host}:${port}`;
  switch (error.code ?? "") {
    case "EADDRINUSE": {
      const base = await findFreePorts(host, port);
      const free = base === undefined ? `${flag}=0 (0 selects a free port)` : `--ports=${base}`;
      const user = findPortUser(port) ?? "another process";
      return `${where} is in use by ${user}. Stop it, or use free ports: npm start -- ${free}`;
    }
    case "EACCES":
      return `permission denied to listen on ${where}. Choose a port above 1023: npm start -- ${flag}=8090`;
    case "EADDRNOTAVAIL":
      return `${host} is not an address of this machine. Use 127.0.0.1: npm start -- --server-host=127.0.0.1`;
    default:
      return `cannot listen on ${where}: ${error.message}`;
  }
}

/** The ports of a stack with up to five clusters. */
const PORTS_OF_A_STACK = 12;
const MAX_ATTEMPTS = 20;
const LAST_PORT = 65_535;

/** Below the ports that the system gives to outgoing connections, where few are in use. */
const QUIET_PORTS = 9000;

/** The first of enough consecutive free ports for a whole stack, above a port in use if possible; undefined if none is near. */
async function findFreePorts(host: string, above: number): Promise<number | undefined> {
  for (const start of [Math.ceil((above + 1) / 10) * 10, QUIET_PORTS]) {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const base = start + attempt * 10;
      if (base + PORTS_OF_A_STACK > LAST_PORT) break;
      const ports = Array.from({ length: PORTS_OF_A_STACK }, (_, index) => base + index);
      if ((await Promise.all(ports.map((port) => isPortFree(host, port)))).every(Boolean)) return base;
    }
  }
  return undefined;
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
