import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/**
 * A TCP fault. swallow: connections stay open and data is dropped; reset: every connection, old or new, is reset;
 * delay: data arrives late; halve: each connection is closed in the middle of a chunk.
 */
export type TcpFault = "pass" | "swallow" | "reset" | "delay" | "halve";

/** A TCP proxy on loopback that can inject faults. */
export interface TcpProxy {
  readonly port: number;
  /** The number of open connections. */
  readonly open: number;
  set(fault: TcpFault): void;
  close(): Promise<void>;
}

const DELAY_MS = 300;

/** Starts a proxy that forwards everything. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let fault: TcpFault = "pass";
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  const forward = (from: Socket, to: Socket, cut: () => void): void => {
    from.on("data", (bytes: Buffer) => {
      if (fault === "pass") to.write(bytes);
      else if (fault === "delay") setTimeout(() => to.write(bytes), DELAY_MS);
      else if (fault === "halve") {
        to.write(bytes.subarray(0, Math.ceil(bytes.length / 2)));
        cut();
      }
    });
  };
  const listener = createServer((client) => {
    if (fault === "reset") {
      client.on("error", () => undefined);
      client.resetAndDestroy();
      return;
    }
    const server = connect(targetPort, "127.0.0.1");
    const pair = { client, server };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.on("error", end);
      socket.on("close", end);
    }
    forward(client, server, () => client.end());
    forward(server, client, () => client.end());
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const resetAll = (): void => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  };
  return {
    port: (listener.address() as AddressInfo).port,
    get open() {
      return pairs.size;
    },
    set: (next) => {
      fault = next;
      if (next === "reset") resetAll();
    },
    close: async () => {
      resetAll();
      await new Promise<void>((resolve) => listener.close(() => resolve()));
    },
  };
}
