import { lookup } from "node:dns/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Timer, Timers } from "@oaas/foundation";
import { decodeEnvelope, encodeEnvelope, type Envelope, type PeerLinks } from "../remote/messages.ts";

export interface TcpLinksOptions {
  readonly node: number;
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  /** `tcp/HOST:PORT`, as in `OPRC_ZENOH_PEERS`. A host may have several addresses, among them this node. */
  readonly peers: readonly string[];
  readonly timers: Timers;
}

const REDIAL_MS = 1_000;
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Connections between the processes of a store: one JSON line for each message, first the node id.
 *
 * *Guarantees*: addresses are resolved again until they connect; messages over one connection keep their order; a peer
 * that sends anything else is disconnected.
 */
export class TcpLinks implements PeerLinks {
  readonly #options: TcpLinksOptions;
  readonly #server: Server;
  readonly #sockets = new Map<number, Set<Socket>>();
  /** Addresses that are connected or being connected, and those of this node. */
  readonly #dialed = new Set<string>();
  readonly #listeners: ((from: number, envelope: Envelope) => void)[] = [];
  readonly #open = new Set<Socket>();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: TcpLinksOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#attach(socket));
    this.#server.listen(options.port, options.host);
    void this.#dialAll();
  }

  get connected(): ReadonlySet<number> {
    return new Set(this.#sockets.keys());
  }

  /** Resolves when it accepts connections; rejects when the port is in use. */
  async listening(): Promise<void> {
    if (this.#server.listening) return;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("listening", resolve).once("error", reject);
    });
  }

  send(node: number, envelope: Envelope): void {
    const [socket] = this.#sockets.get(node) ?? [];
    socket?.write(`${encodeEnvelope(envelope)}\n`);
  }

  onMessage(listener: (from: number, envelope: Envelope) => void): void {
    this.#listeners.push(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  async #dialAll(): Promise<void> {
    for (const peer of this.#options.peers) {
      const { host, port } = /^tcp\/(?<host>.+):(?<port>\d+)$/.exec(peer)?.groups ?? {};
      if (host === undefined) continue;
      const found = await lookup(host.replaceAll(/[[\]]/g, ""), { all: true }).catch(() => []);
      for (const { address } of found) this.#dial(address, Number(port));
    }
    if (!this.#isClosed) this.#timer = this.#options.timers.after(REDIAL_MS, () => void this.#dialAll());
  }

  #dial(address: string, port: number): void {
    const key = `${address} ${port}`;
    if (this.#isClosed || this.#dialed.has(key)) return;
    this.#dialed.add(key);
    const socket = connect(port, address);
    this.#attach(socket, (isSelf) => {
      if (!isSelf) this.#dialed.delete(key);
    });
  }

  #attach(socket: Socket, onEnd?: (isSelf: boolean) => void): void {
    const { node: self } = this.#options;
    let peer: number | undefined;
    let rest = "";
    this.#open.add(socket);
    socket.setNoDelay(true).setKeepAlive(true, REDIAL_MS).setEncoding("utf8");
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.#open.delete(socket);
      if (peer !== undefined) this.#detach(peer, socket);
      onEnd?.(peer === self);
    });
    socket.on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_LINE_BYTES) socket.destroy();
      for (const line of lines) {
        try {
          if (peer === undefined) peer = this.#greet(line, socket);
          else this.#deliver(peer, decodeEnvelope(line));
        } catch {
          socket.destroy();
          return;
        }
      }
    });
    socket.write(`${JSON.stringify({ node: self })}\n`);
  }

  /** The node at the other end; a connection to itself ends. */
  #greet(line: string, socket: Socket): number {
    const { node } = JSON.parse(line) as { readonly node: unknown };
    if (typeof node !== "number") throw new TypeError("not a node");
    if (node === this.#options.node) socket.destroy();
    else this.#sockets.set(node, (this.#sockets.get(node) ?? new Set()).add(socket));
    return node;
  }

  #detach(node: number, socket: Socket): void {
    const sockets = this.#sockets.get(node);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#sockets.delete(node);
  }

  #deliver(from: number, envelope: Envelope): void {
    for (const listener of this.#listeners) listener(from, envelope);
  }
}
