import { connect, type Socket } from "node:net";

/** Another loopback address than that of other clients, because servers limit connections by address. */
const ADDRESS = "127.0.0.2";

/** Connections to a port that behave badly until they are closed. */
export class SlowClients implements Disposable {
  readonly #sockets: Socket[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #closed = 0;

  /** Connections that the server ended. */
  get closedByServer(): number {
    return this.#closed;
  }

  /** Opens connections that send nothing. */
  idle(port: number, count: number): Promise<void> {
    return this.#open(port, count, () => undefined);
  }

  /** Opens connections that send a request byte by byte. */
  drip(port: number, count: number, text: string, everyMs: number): Promise<void> {
    return this.#open(port, count, (socket) => {
      let at = 0;
      const timer = setInterval(() => {
        if (socket.writable && at < text.length) socket.write(text.charAt(at++));
      }, everyMs);
      this.#timers.push(timer);
    });
  }

  /** Opens connections that send the text, then nothing more. */
  stall(port: number, count: number, text: string): Promise<void> {
    return this.#open(port, count, (socket) => void socket.resume().write(text));
  }

  /** Opens connections that send a whole request and read nothing of the response. */
  readNothing(port: number, count: number, text: string): Promise<void> {
    return this.#open(port, count, (socket) => void socket.pause().write(text));
  }

  async #open(port: number, count: number, use: (socket: Socket) => void): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, () => {
        const socket = connect({ host: "127.0.0.1", port, localAddress: ADDRESS });
        this.#sockets.push(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => (this.#closed += 1));
        return new Promise<void>((resolve) => {
          socket.once("close", () => resolve());
          socket.once("connect", () => {
            use(socket);
            resolve();
          });
        });
      }),
    );
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
  }
}
