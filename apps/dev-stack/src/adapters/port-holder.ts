import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTENING = "0A";

/** Who listens on a port, as far as this user may know and this system tells (Linux): `process 123 (node server.js)`. */
export function portHolder(port: number): string | undefined {
  try {
    const sockets = new Set(["tcp", "tcp6"].flatMap((table) => socketsOn(port, readTable(table))));
    const pid = sockets.size === 0 ? undefined : pids().find((one) => holdsOne(one, sockets));
    return pid === undefined ? undefined : `process ${pid}${commandOf(pid)}`;
  } catch {
    // No such tables: another system.
    return undefined;
  }
}

function readTable(table: string): string {
  return readFileSync(`/proc/net/${table}`, "utf8");
}

/** The inodes of sockets that listen on a port, in a table of the kernel. */
export function socketsOn(port: number, table: string): readonly string[] {
  return table
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = "", , state]) => state === LISTENING && Number.parseInt(local.split(":")[1] ?? "", 16) === port)
    .map((fields) => `socket:[${fields[9] ?? ""}]`);
}

function pids(): readonly string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

function holdsOne(pid: string, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(linkOf(`/proc/${pid}/fd/${fd}`)));
  } catch {
    // It ended meanwhile, or is another user's.
    return false;
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    // Closed meanwhile.
    return "";
  }
}

const SHOWN = 60;

function commandOf(pid: string): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
    return words === "" ? "" : ` (${words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words})`;
  } catch {
    return "";
  }
}
