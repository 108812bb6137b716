import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Relay } from "../../clusters/ports.ts";

const HOST = "127.0.0.1";

/** A TCP proxy between the package manager and one class runtime manager that can simulate a network partition. */
export async function openRelay(): Promise<Relay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const waiting = new Set<Socket>();
  let target: number | undefined;
  let isCut = false;
  const drop = (): void => {
    for (const [near, far] of pairs) {
      near.destroy();
      far.destroy();
    }
    for (const socket of waiting) socket.destroy();
  };
  const server: Server = createServer((near) => {
    near.on("error", () => near.destroy());
    // Cut: accept the connection and ignore it, as if packets were lost.
    if (isCut) {
      waiting.add(near);
      near.once("close", () => waiting.delete(near));
      return;
    }
    if (target === undefined) return void near.destroy();
    const far = connect({ host: HOST, port: target, noDelay: true });
    near.setNoDelay(true);
    const pair = [near, far] as const;
    pairs.add(pair);
    const end = (): void => {
      near.destroy();
      far.destroy();
      pairs.delete(pair);
    };
    for (const socket of pair) socket.once("close", end).on("error", end);
    near.pipe(far).pipe(near);
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `http://${HOST}:${port}`,
    setTarget: (url) => {
      drop();
      target = url === undefined ? undefined : Number(new URL(url).port);
    },
    cut: () => {
      isCut = true;
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.pause();
        far.pause();
      }
    },
    restore: () => {
      isCut = false;
      drop();
    },
    close: async () => {
      drop();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
  };
}
