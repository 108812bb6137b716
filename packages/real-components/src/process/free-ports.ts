import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { PortInUse } from "./ready.ts";

const LOWEST = 12_000;
const STARTS = 4;
const given = new Set<number>();

/**
 * Finds free loopback ports below the ephemeral range, so that no outgoing connection or "port 0" listener takes one
 * before the component binds it. Ports are random, so that parallel tests rarely collide.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = LOWEST + Math.floor(Math.random() * (ephemeralStart() - LOWEST));
    if (given.has(port) || !(await canBind(port))) continue;
    given.add(port);
    ports.push(port);
  }
  return ports;
}

/** Runs a start on this port if it is free, else on a free port. */
export async function onPortOrFree<T>(port: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  if (port !== undefined && (await canBind(port))) {
    try {
      return await start(port);
    } catch (error) {
      if (!(error instanceof PortInUse)) throw error;
    }
  }
  return onFreePorts(1, ([free = 0]) => start(free));
}

/** Runs a start and retries it with other ports if one was in use. */
export async function onFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start(await freePorts(count));
    } catch (error) {
      if (!(error instanceof PortInUse) || tries >= STARTS) throw error;
    }
  }
}

function ephemeralStart(): number {
  try {
    const low = Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split(/\s+/)[0]);
    return low > LOWEST + 5_000 ? low : 32_768;
  } catch {
    return 32_768;
  }
}

/** Whether this loopback port is free. */
export function canBind(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
