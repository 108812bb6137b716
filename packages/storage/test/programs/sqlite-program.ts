/**
 * A process with a SQLite store, whose limits a test changes. It answers calls over the IPC channel and reports what its
 * watch and its lease see.
 */
import { argv } from "node:process";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { outcomeUnknown } from "@oaas/storage";
import { openSqliteStore } from "@oaas/storage/sqlite";
import type { StoreCall, StoreReport } from "../sqlite-process.ts";

const report = (message: StoreReport): void => void process.send?.(message);
const store = openSqliteStore({
  ambient: realAmbient,
  file: argv[2] as string,
  reopen: { baseMs: 10, capMs: 50, factor: 2, jitter: 0 },
  onIncident: ({ what }) => report({ incident: what }),
});

process.on("message", (call: StoreCall) => {
  answer(call).then(
    (value) => report({ id: call.id, value }),
    (thrown: unknown) => {
      const { kind, message } = Fault.from(thrown);
      report({ id: call.id, fault: { kind, message, outcomeUnknown: outcomeUnknown(thrown) } });
    },
  );
});
process.on("disconnect", () => process.exit());

async function answer({ op, key = "", value = "" }: StoreCall): Promise<unknown> {
  if (op === "put") return (await store.commit({ writes: [{ op: "put", key, value }] })).revision;
  if (op === "get") return (await store.get(key))?.value;
  if (op === "count") return (await store.range({ prefix: key, limit: 1, count: true })).total;
  if (op === "close") return store.close();
  return store.revision();
}

async function watch(): Promise<void> {
  for await (const { events } of store.watch({ prefix: "k/", fromRevision: (await store.revision()) + 1 })) {
    report({ seen: events.length });
  }
}

const lease = await store.grantLease({ ttlMs: 1_000 });
await store.commit({ writes: [{ op: "put", key: "leased", value: "", lease: lease.id }] });
lease.lost.addEventListener("abort", () => report({ lost: "lease" }));
watch().catch((thrown: unknown) => report({ lost: `watch: ${Fault.from(thrown).code}` }));
report({ incident: "ready" });
