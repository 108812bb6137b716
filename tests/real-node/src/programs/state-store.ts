/**
 * The test store as a program for containers, with the environment and the ports of the real one. Nodes replicate over
 * TCP to `OPRC_ZENOH_PEERS`; requests of functions go over the routes of the collection.
 */
import process from "node:process";
import { oprcInvoke } from "@oaas/contracts/grpc";
import { Fault, invalidArgument, pathOf, ROOT_PATH } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { bindService, RpcChannel } from "@oaas/rpc";
import type { StoreNode } from "@oaas/test-store";
import { serveStoreNode } from "@oaas/test-store/grpc";
import { startRemoteNode } from "@oaas/test-store/remote";
import { TcpLinks } from "@oaas/test-store/tcp";

const LEVELS = ["error", "warn", "info", "debug", "trace"];
const CALL_MS = 10_000;
/** As the real one after SIGINT. */
const SIGINT_MS = 2_000;

const node = start();
const { settings } = node;
/** The first directive of `RUST_LOG` without a module is the level; ODGM_LOG is ignored. */
const level = settings.log
  .split(",")
  .find((each) => !each.includes("="))
  ?.toLowerCase();

function log(of: string, text: string): void {
  if (LEVELS.indexOf(of) <= LEVELS.indexOf(level ?? "error")) process.stdout.write(`${text}\n`);
}

/** A value that the store cannot read ends the process (T11). */
function start(): StoreNode {
  try {
    return startRemoteNode(process.env, "state-store", realAmbient, ({ id, settings: { zenohPort, peers } }) => {
      return new TcpLinks({ node: id, port: zenohPort, peers, timers: realAmbient.timers });
    });
  } catch (thrown) {
    process.stderr.write(`${Fault.from(thrown).message}\n`);
    process.exit(1);
  }
}

const functions = new Map<string, RpcChannel>();

/** The function of a route, over the Service of the function. */
function functionOf(cls: string, name: string): RpcChannel {
  const url = node.collection(cls)?.routes[name]?.url;
  if (url === undefined) {
    throw invalidArgument("the request", [
      { path: pathOf(ROOT_PATH, "fn_id"), message: `${cls} has no route to ${name}` },
    ]);
  }
  const { hostname, port } = new URL(url);
  const address = `${hostname}:${port || 80}`;
  let channel = functions.get(address);
  if (channel === undefined) {
    channel = new RpcChannel({ name, address, clock: realAmbient.clock, deadlineMs: CALL_MS });
    functions.set(address, channel);
  }
  log("debug", `invoke ${cls} ${name} at ${address}`);
  return channel;
}

const invoke = bindService(oprcInvoke.OprcFunction, {
  invokeFn: (request, { signal }) =>
    functionOf(request.clsId, request.fnId).client(oprcInvoke.OprcFunction).invokeFn(request, { signal }),
  invokeObj: (request, { signal }) =>
    functionOf(request.clsId, request.fnId).client(oprcInvoke.OprcFunction).invokeObj(request, { signal }),
});

const { address } = await serveStoreNode(node, {
  host: "0.0.0.0",
  port: settings.port,
  ambient: realAmbient,
  services: [invoke],
});
const names = settings.collections.map(({ name }) => name).join(", ") || "nothing";
log("info", `node ${node.id} of ${settings.members.join(",")} serves ${names} at ${address}`);
for (const problem of settings.problems) log("error", `no shards: ${problem}`);
if (settings.ignored.length > 0) log("warn", `ignored: ${settings.ignored.join(", ")}`);

// Without a handler, a signal would end the process at once.
process.on("SIGTERM", () => {
  log("info", "SIGTERM: gRPC ends, the process does not");
  node.signal("SIGTERM");
});
process.once("SIGINT", () => {
  node.signal("SIGINT");
  realAmbient.timers.after(SIGINT_MS, () => process.exit(0));
});
