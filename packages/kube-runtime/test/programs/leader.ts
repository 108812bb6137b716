/** Writes to an object as fast as possible while it leads. Arguments: kubeconfig, identity, lease, object. */
import { isFault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createUndiciTransport, loadAccess } from "../../src/adapters/index.ts";
import { fenced } from "../../src/client/fence.ts";
import { KubeClient } from "../../src/client/kube-client.ts";
import { LeaseElector } from "../../src/leader/lease-elector.ts";
import { CONFIG_MAPS } from "../real-client.ts";

const [kubeconfig = "", identity = "", lease = "", name = ""] = process.argv.slice(2);
const transport = createUndiciTransport(loadAccess({ env: {}, kubeconfig }), realAmbient);
const elector = new LeaseElector({
  client: new KubeClient({ transport, ambient: realAmbient }),
  ambient: realAmbient,
  lease: { namespace: "default", name: lease },
  identity,
  leaseMs: 2_000,
  everyMs: 250,
});
const writer = new KubeClient({ transport: fenced(transport, () => elector.isLeading), ambient: realAmbient });
const target = writer.resource(CONFIG_MAPS);
elector.start();

const stopping = new AbortController();
process.once("SIGTERM", () => {
  stopping.abort();
  void elector.stop().then(() => transport.close());
});
const key = { namespace: "default", name };

/** One step of work. The version precondition rejects a write that was in flight while the process was frozen. */
async function step(): Promise<void> {
  const present = await target.get(key);
  await target.update({ ...present, data: { by: identity, at: String(performance.now()) } }).catch((fault: unknown) => {
    if (!isFault(fault, "conflict")) throw fault;
  });
}

while (!stopping.signal.aborted) {
  try {
    await elector.leading();
    // Many steps without a leadership check in between: the fence must stop them.
    for (let n = 0; n < 100; n += 1) await step();
  } catch {
    // Leadership was lost in between; wait for the next term.
  }
}
