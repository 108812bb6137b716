import { createServer, connect, type AddressInfo, type Socket } from "node:net";

/**
 * What a proxy does with bytes. swallow: connections stay open and nothing passes; reset: every connection is reset, new ones too;
 * delay: everything arrives late; halve: each connection is cut off in the middle of a piece.
 */
export type TcpFault = "pass" | "swallow" | "reset" | "delay" | "halve";

/** A proxy on loopback between a client and one port, which can misbehave. */
export interface TcpProxy {
  readonly port: number;
  /** Connections that are open now. */
  readonly open: number;
  set(fault: TcpFault): void;
  close(): Promise<void>;
}

const DELAY_MS = 300;

/** Starts passing everything on. */
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
