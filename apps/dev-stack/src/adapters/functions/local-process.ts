import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request as openRequest, type IncomingHttpHeaders } from "node:http";
import { connect, createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import type { ContainerRequest, ContainerResponse } from "@oaas/kube-apiserver";

const HOST = "127.0.0.1";
const EXIT_WITH_PARENT = path.join(import.meta.dirname, "exit-with-parent.mjs");
/** Bounds of one program: memory of its heap in MiB, and connections to it. */
const MAX_HEAP_MIB = 64;
const MAX_CONNECTIONS = 64;
const PROBE_MS = 100;
const STOP_MS = 3000;

export interface LocalProcessOptions {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onOutput: (line: string) => void;
  readonly onReady: () => void;
  /** After the last output. */
  readonly onExit: (exitCode: number) => void;
}

/** A Node program on a free loopback port. */
export class LocalProcess {
  readonly #options: LocalProcessOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
  #child: ChildProcess | undefined;
  #port = 0;
  #isStopped = false;

  constructor(options: LocalProcessOptions) {
    this.#options = options;
    void this.#start();
  }

  /** Sends a request; rejects when the program cannot be reached. */
  serve({ method, target, headers, body, signal }: ContainerRequest): Promise<ContainerResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<ContainerResponse>();
    const length = body.length === 0 ? {} : { "content-length": String(body.length) };
    const sent = openRequest(
      {
        host: HOST,
        port: this.#port,
        method,
        path: target,
        headers: { ...headers, ...length },
        agent: this.#agent,
        signal,
      },
      (response) => {
        resolve({ status: response.statusCode ?? 502, headers: flatten(response.headers), body: response });
      },
    );
    sent.once("error", (error) => reject(new Error(`dial tcp ${headers["host"] ?? ""}: ${error.message}`)));
    sent.end(body);
    return promise;
  }

  /** Asks the program to end, and ends it when it does not. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#agent.destroy();
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    child.once("exit", () => clearTimeout(timer));
  }

  async #start(): Promise<void> {
    const { file, env, onOutput, onExit } = this.#options;
    this.#port = await findFreePort();
    if (this.#isStopped) return onExit(0);
    const flags = [`--max-old-space-size=${MAX_HEAP_MIB}`, "--import", `file://${EXIT_WITH_PARENT}`];
    const child = spawn(process.execPath, [...flags, file], {
      env: { ...env, HOST, PORT: String(this.#port) },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child = child;
    for (const output of [child.stdout, child.stderr]) {
      if (output) createInterface({ input: output }).on("line", onOutput);
    }
    child.once("error", (error) => onOutput(`cannot start: ${error.message}`));
    child.once("close", (code) => {
      this.#agent.destroy();
      onExit(code ?? 1);
    });
    await this.#waitForPort(child);
  }

  async #waitForPort(child: ChildProcess): Promise<void> {
    while (!this.#isStopped && child.exitCode === null && child.signalCode === null) {
      if (await accepts(this.#port)) return this.#options.onReady();
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    }
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    const end = (isOpen: boolean) => (): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", end(true)).once("error", end(false));
  });
}

function flatten(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
