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

test("what is sent gets through; cut off it gets nowhere and nobody is told; mended, a new call gets through", async () => {
  const [echo, relay] = [await echoServer(), await openRelay()];
  const early = await dial(relay.url);
  expect(await answer(early, "x"), "nobody is there yet").toBe("ended");
  relay.leadTo(echo.url);
  const socket = await dial(relay.url);
  expect(await answer(socket, "hello")).toBe("hello");

  relay.cut();
  const heard: string[] = [];
  socket.on("data", (text: string) => heard.push(text));
  const late = await dial(relay.url);
  late.on("data", (text: string) => heard.push(text));
  socket.write("lost");
  late.write("lost");
  // A round trip beside it: whatever was to come has come.
  const beside = await dial(echo.url);
  expect(await answer(beside, "here")).toBe("here");
  expect({ heard, isOpen: !socket.destroyed && !late.destroyed }).toEqual({ heard: [], isOpen: true });

  const ended = Promise.all([once(socket, "close"), once(late, "close")]);
  relay.mend();
  await ended;
  expect(await answer(await dial(relay.url), "again")).toBe("again");

  const last = await dial(relay.url);
  expect(await answer(last, "x")).toBe("x");
  relay.leadTo(undefined);
  await once(last, "close");
  beside.destroy();
  await relay.close();
  echo.close();
});
