import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { assertPortFree, findPortUser, isPortFree, listeningSockets } from "./listen.ts";

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 100 0 0 10 0
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0 100 0 0 10 0`;

test("finds listening sockets in the kernel table and ignores connections", () => {
  expect(listeningSockets(8080, TABLE)).toEqual(["socket:[4711]"]);
  expect(listeningSockets(80, TABLE)).toEqual([]);
});

test.runIf(process.platform === "linux")("names the listening process with pid and command", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  expect(findPortUser(port)).toContain(`process ${process.pid} (`);
  server.close();
  await once(server, "close");
  expect(findPortUser(port)).toBeUndefined();
});

test("suggests free ports for a port in use", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const fault = await assertPortFree("127.0.0.1", port).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  );
  server.close();
  expect(fault).toMatch(/^127\.0\.0\.1:\d+ is in use by .*npm start -- --ports=\d+$/);
  expect(await isPortFree("127.0.0.1", Number(/\d+$/.exec(fault ?? "")?.[0]))).toBe(true);
});
