import { spawn, type ChildProcess } from "node:child_process";
import path from "node:path";
import { oprcData } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import { RpcChannel, type RpcClient } from "@oaas/rpc";
import { storeEnv } from "@oaas/test-store/testing";
import { eventually, freePorts } from "@oaas/testkit";
import { afterEach, expect, test } from "vitest";

const PROGRAM = path.resolve(import.meta.dirname, "..", "src", "programs", "state-store.ts");
const CART = { clsId: "shop.Cart", partitionId: 0, objectId: "a" };
const object = { entries: { n: { data: new TextEncoder().encode("x") } } };

const processes = new Set<ChildProcess>();
const channels = new Set<RpcChannel>();
afterEach(() => {
  for (const child of processes) child.kill("SIGKILL");
  for (const channel of channels) channel.close();
  processes.clear();
  channels.clear();
});

interface Store {
  readonly child: ChildProcess;
  readonly client: RpcClient<typeof oprcData.DataService>;
  readonly output: () => string;
  readonly exit: Promise<number | null>;
}

function startStore(env: Readonly<Record<string, string>>): Store {
  const child = spawn(process.execPath, [PROGRAM], { env: { PATH: process.env["PATH"], ...env }, stdio: "pipe" });
  processes.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += String(text)));
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const channel = new RpcChannel({
    name: "the store",
    address: `127.0.0.1:${env["ODGM_HTTP_PORT"]}`,
    clock: realAmbient.clock,
    deadlineMs: 2_000,
  });
  channels.add(channel);
  return { child, client: channel.client(oprcData.DataService), output: () => output, exit };
}

/** Three processes with the environment of three pods. */
async function startGroup(): Promise<{ readonly stores: Store[]; readonly restart: (index: number) => void }> {
  const ports = await freePorts(6);
  const peers = ports.slice(3).map((port) => `tcp/127.0.0.1:${port}`);
  const start = (index: number): Store =>
    startStore({
      ...storeEnv(index + 1, { guarded: true }),
      ODGM_HTTP_PORT: String(ports[index]),
      OPRC_ZENOH_PORT: String(ports[index + 3]),
      OPRC_ZENOH_PEERS: peers.join(","),
      RUST_LOG: "debug,openraft=info",
      ODGM_LOG: "error",
    });
  const stores = [0, 1, 2].map(start);
  return { stores, restart: (index) => void (stores[index] = start(index)) };
}

test("processes replicate over TCP, keep objects while a majority runs, and catch up", async () => {
  const { stores, restart } = await startGroup();
  const at = (index: number): Store => stores[index] as Store;
  await eventually(() => at(0).client.set({ ...CART, object }));
  const readAll = async (): Promise<void> => {
    for (const { client } of stores) expect(String((await client.get(CART)).obj?.entries["n"]?.data)).toBe("x");
  };
  await eventually(readAll);
  expect(at(0).output()).toContain("node 1 of 1,2,3 serves shop.Cart");
  expect(at(0).output()).toContain("ignored: ODGM_LOG");
  for (const index of [0, 1, 2]) {
    at(index).child.kill("SIGKILL");
    await at(index).exit;
    restart(index);
    await eventually(readAll);
  }
});

test("SIGTERM ends gRPC and not the process, SIGINT ends it", async () => {
  const { stores } = await startGroup();
  const [first, second, third] = stores as [Store, Store, Store];
  await eventually(() => first.client.set({ ...CART, object }));
  third.child.kill("SIGKILL");
  second.child.kill("SIGTERM");
  await eventually(() => expect(second.client.stats({})).rejects.toMatchObject({ kind: "unavailable" }));
  expect(second.child.exitCode).toBeNull();
  await eventually(() => first.client.set({ ...CART, object }));
  second.child.kill("SIGINT");
  expect(await second.exit).toBe(0);
  await eventually(() => expect(first.client.set({ ...CART, object })).rejects.toThrow("No leader available"));
});

test("a node id that is not a number ends the process", async () => {
  const { exit, output } = startStore({ ...storeEnv(1), ODGM_NODE_ID: "cart-0" });
  expect(await exit).toBe(1);
  expect(output()).toContain("ODGM_NODE_ID");
});
