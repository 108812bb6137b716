import { connect as connectHttp2, type ClientHttp2Session, type OutgoingHttpHeaders } from "node:http2";
import { connect, type Socket } from "node:net";

/** Another loopback address than that of other clients, because servers limit connections by address. */
const ADDRESS = "127.0.0.2";
const STREAMS_PER_SESSION = 100;

/** Connections to a port that behave badly until they are closed. */
export class SlowClients implements Disposable {
  readonly #sockets: Socket[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #sessions: ClientHttp2Session[] = [];
  #closed = 0;
  #endedStreams = 0;

  /** Connections that the server ended. */
  get closedByServer(): number {
    return this.#closed;
  }

  /** HTTP/2 streams that the server ended. */
  get streamsEndedByServer(): number {
    return this.#endedStreams;
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

  /** Opens HTTP/2 streams with a window of one byte and reads nothing: the server must hold back every further byte. */
  async readNoStreams(port: number, count: number, headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<void> {
    for (let opened = 0; opened < count; opened += STREAMS_PER_SESSION) {
      const session = connectHttp2(`http://127.0.0.1:${port}`, {
        settings: { initialWindowSize: 1 },
        createConnection: () => connect({ host: "127.0.0.1", port, localAddress: ADDRESS }),
      });
      session.on("error", () => undefined);
      this.#sessions.push(session);
      const streams = Math.min(STREAMS_PER_SESSION, count - opened);
      await Promise.all(Array.from({ length: streams }, () => this.#openStream(session, headers, body)));
    }
  }

  #openStream(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<void> {
    const stream = session.request(headers);
    stream.end(body);
    stream.on("error", () => undefined);
    let hasEnded = false;
    const onEnd = (): void => {
      this.#endedStreams += hasEnded ? 0 : 1;
      hasEnded = true;
    };
    // A stream that is not read does not close when trailers have ended it.
    stream.on("trailers", onEnd).on("close", onEnd);
    return new Promise((resolve) => {
      stream.once("response", () => resolve());
      stream.once("close", () => resolve());
    });
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
    for (const session of this.#sessions) session.destroy();
  }
}
