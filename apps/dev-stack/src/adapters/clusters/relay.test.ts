import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { openRelay } from "./relay.ts";

async function echoServer() {
  const server = createServer((socket) => void socket.on("error", () => undefined).pipe(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, close: () => server.close() };
}

async function dial(url: string): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) }).setEncoding("utf8");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const answer = async (socket: Socket, text: string): Promise<unknown> => {
  socket.write(text);
  return Promise.race([
    once(socket, "data").then(([data]) => data as unknown),
    once(socket, "close").then(() => "ended"),
  ]);
};

test("forwards data, drops it silently while cut, and forwards new connections after restore", async () => {
  const [echo, relay] = [await echoServer(), await openRelay()];
  const early = await dial(relay.url);
  expect(await answer(early, "x"), "no target yet").toBe("ended");
  relay.setTarget(echo.url);
  const socket = await dial(relay.url);
  expect(await answer(socket, "hello")).toBe("hello");

  relay.cut();
  const heard: string[] = [];
  socket.on("data", (text: string) => heard.push(text));
  const late = await dial(relay.url);
  late.on("data", (text: string) => heard.push(text));
  socket.write("lost");
  late.write("lost");
  // A direct round trip: any forwarded data would have arrived by now.
  const direct = await dial(echo.url);
  expect(await answer(direct, "here")).toBe("here");
  expect({ heard, isOpen: !socket.destroyed && !late.destroyed }).toEqual({ heard: [], isOpen: true });

  const ended = Promise.all([once(socket, "close"), once(late, "close")]);
  relay.restore();
  await ended;
  expect(await answer(await dial(relay.url), "again")).toBe("again");

  const last = await dial(relay.url);
  expect(await answer(last, "x")).toBe("x");
  relay.setTarget(undefined);
  await once(last, "close");
  direct.destroy();
  await relay.close();
  echo.close();
});
