import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Timer, Timers } from "@oaas/foundation";
import { KEEP_ALIVE_MS, type Exchange } from "../exchange.ts";
import { PlainConnection, type PlainHost } from "./plain-connection.ts";

export interface PlainLaneOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly maxBodyBytes: number;
  /** A client that connects and says nothing for so long is told so. */
  readonly requestTimeoutMs: number;
  /** Serves a request; false when it is none for this place, and nothing was done. */
  readonly serve: (exchange: Exchange) => boolean;
  /** Tells a client that it took too long, and lets it go. */
  readonly timedOut: (socket: Socket) => void;
}

/**
 * Reads plain requests itself, before Node's server: what that does for a request costs more than all that we do. The server listens and
 * accepts as always; each connection comes here first, and goes to it, unread bytes included, with the first request that is not plain.
 */
export class PlainLane implements PlainHost {
  readonly #options: PlainLaneOptions;
  readonly #toNode: (socket: Socket) => void;
  readonly #connections = new Set<PlainConnection>();
  #sweep: Timer | undefined;
  #date = { second: 0, text: "" };

  constructor(server: Server, options: PlainLaneOptions) {
    this.#options = options;
    const listeners = server.listeners("connection") as ((socket: Socket) => void)[];
    this.#toNode = (socket) => {
      for (const listener of listeners) listener.call(server, socket);
    };
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => this.#accept(socket));
  }

  get maxBodyBytes(): number {
    return this.#options.maxBodyBytes;
  }

  /** Lets go of whoever is not being served. */
  closeIdle(): void {
    for (const connection of this.#connections) if (connection.idleSince !== undefined) connection.socket.destroySoon();
  }

  /** Lets go of whoever is there. */
  closeAll(): void {
    for (const { socket } of this.#connections) socket.destroy();
  }

  serve(exchange: Exchange): boolean {
    return this.#options.serve(exchange);
  }

  handOn(socket: Socket, unread: Buffer): void {
    socket.pause();
    socket.unshift(unread);
    this.#toNode(socket);
    socket.resume();
  }

  now(): number {
    return this.#options.clock.monotonic();
  }

  date(): string {
    const second = Math.floor(this.#options.clock.now() / 1000);
    if (second !== this.#date.second) this.#date = { second, text: new Date(second * 1000).toUTCString() };
    return this.#date.text;
  }

  left(connection: PlainConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    this.#sweep?.cancel();
    this.#sweep = undefined;
  }

  #accept(socket: Socket): void {
    this.#connections.add(new PlainConnection(socket, this));
    this.#sweep ??= this.#options.timers.after(this.#sweepMs(), () => this.#lookForIdle());
  }

  #sweepMs(): number {
    return Math.min(this.#options.requestTimeoutMs, 10_000);
  }

  #lookForIdle(): void {
    const { requestTimeoutMs, timedOut } = this.#options;
    const now = this.now();
    for (const connection of this.#connections) {
      const { idleSince = now, hasServed, socket } = connection;
      if (now - idleSince < (hasServed ? KEEP_ALIVE_MS : requestTimeoutMs)) continue;
      if (hasServed) socket.destroy();
      else timedOut(socket);
    }
    this.#sweep =
      this.#connections.size === 0 ? undefined : this.#options.timers.after(this.#sweepMs(), () => this.#lookForIdle());
  }
}
