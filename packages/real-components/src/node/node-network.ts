import type { Socket } from "node:net";
import { request } from "node:http";
import { join } from "node:path";
import { unavailable } from "@oaas/foundation";
import { componentFile } from "../components/cache/component-file.ts";
import { untilReady } from "../process/ready.ts";
import { startProcess, type RunningProcess } from "../process/running-process.ts";
import { NETWORK_ADDRESS, SERVICE_RANGE } from "./node-files.ts";

/** Scripts and programs that run as the nodes. */
export const MACHINE_FILES = join(import.meta.dirname, "..", "..", "machine");

/** The network namespace of the nodes, with the API server on its loopback address. */
export interface NodeNetwork {
  /** A process in the namespace, for `nsenter`. */
  readonly pid: number;
  readonly processes: readonly RunningProcess[];
  /** Opens a connection from within the network, for example to a Service. */
  dial(host: string, port: number): Promise<Socket>;
  close(): Promise<void>;
}

export interface NetworkPlan {
  readonly folder: string;
  readonly proxySocket: string;
  readonly apiPort: number;
  /** Addresses of the nodes. */
  readonly addresses: readonly string[];
}

/** Creates the network of the nodes and waits until the API server is reachable in it. */
export async function startNetwork({ folder, proxySocket, apiPort, addresses }: NetworkPlan): Promise<NodeNetwork> {
  const apiSocket = join(folder, "api.sock");
  const bridge = join(MACHINE_FILES, "bridge.mjs");
  const started: RunningProcess[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((each) => each.stop(0)));
  };
  const dial = (host: string, port: number): Promise<Socket> => dialThrough(proxySocket, host, port);
  try {
    started.push(
      await startProcess({
        name: "node-bridge",
        command: process.execPath,
        args: [bridge, "api", apiSocket, String(apiPort)],
        cwd: folder,
        logFile: join(folder, "bridge.log"),
      }),
    );
    const own = [NETWORK_ADDRESS, ...addresses];
    const program = [process.execPath, bridge, "network", apiSocket, proxySocket, String(apiPort), NETWORK_ADDRESS];
    const network = await startProcess({
      name: "node-network",
      command: "unshare",
      args: ["--net", "sh", join(MACHINE_FILES, "network.sh"), own.join(" "), SERVICE_RANGE, ...program],
      env: toolEnvironment(),
      cwd: folder,
      logFile: join(folder, "network.log"),
    });
    started.push(network);
    await untilReady(network, async () => {
      (await dial("127.0.0.1", apiPort)).destroy();
      return true;
    });
    return { pid: network.pid, processes: started, dial, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The tools of the containerd component come first on PATH. */
export function toolEnvironment(): Record<string, string> {
  return { PATH: `${componentFile("container-tools")}:${process.env["PATH"] ?? ""}` };
}

function dialThrough(proxySocket: string, host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: proxySocket, method: "CONNECT", path: `${host}:${port}`, agent: false });
    sent.on("error", reject);
    sent.on("connect", (response, socket: Socket, head) => {
      if (head.length > 0) socket.unshift(head);
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      return reject(
        unavailable(`${host}:${port}`, `${host}:${port} is not reachable: ${response.statusMessage ?? ""}`),
      );
    });
    sent.end();
  });
}

/** Sends a GET request from within the network and returns the status; 0 without a response. */
export async function getWithin(network: NodeNetwork, host: string, port: number, path: string): Promise<number> {
  const socket = await network.dial(host, port);
  return new Promise((resolve) => {
    const sent = request({ host, port, path, createConnection: () => socket, timeout: 5_000 });
    sent.on("timeout", () => sent.destroy(new Error("no response")));
    sent.on("error", () => resolve(0));
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end();
  });
}
