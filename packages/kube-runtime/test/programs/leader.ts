/** Writes into an object for as long as it leads, as fast as it can. Arguments: kubeconfig, identity, lease, object. */
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
while (!stopping.signal.aborted) {
  try {
    await elector.leading();
    // A piece of work with many steps that asks nothing in between, as careless as can be: only the fence stands between two writers.
    for (let step = 0; step < 100; step += 1) {
      await target.patch({ namespace: "default", name }, "merge", {
        data: { by: identity, at: String(performance.now()) },
      });
    }
  } catch {
    // Leadership was lost in the middle; wait for the next term.
  }
}
