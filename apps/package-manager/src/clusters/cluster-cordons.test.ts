import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName } from "@oaas/models";
import { openMemoryStore } from "@oaas/storage/memory";
import { expect, test } from "vitest";
import { ClusterCordons } from "./cluster-cordons.ts";

const EDGE = "edge" as ClusterName;
const call = { caller: "ann", correlationId: "c-1", reason: "kernel update" };

async function cordonsOn(store: ReturnType<typeof openMemoryStore>, ambient: ReturnType<typeof virtualAmbient>) {
  const cordons = new ClusterCordons({ store, ambient, isCluster: (name) => name === EDGE });
  await cordons.start();
  return cordons;
}

test("keeps a cordon with author and reason across restarts until it is removed", async () => {
  const ambient = virtualAmbient(1);
  const store = openMemoryStore({ ambient });
  const first = await cordonsOn(store, ambient);
  await first.cordon(EDGE, call);
  await first.cordon(EDGE, { ...call, caller: "bob" });
  await first.close();

  const second = await cordonsOn(store, ambient);
  expect(second.of(EDGE)).toMatchObject({ by: "ann", reason: "kernel update" });
  await second.uncordon(EDGE);
  await second.uncordon(EDGE);
  expect(second.of(EDGE)).toBeUndefined();
  await second.close();
  await store.close();
});

test("rejects a cluster that is not registered", async () => {
  const ambient = virtualAmbient(1);
  const store = openMemoryStore({ ambient });
  const cordons = await cordonsOn(store, ambient);
  await expect(cordons.cordon("nowhere" as ClusterName, call)).rejects.toMatchObject({ kind: "not-found" });
  await expect(cordons.uncordon("nowhere" as ClusterName)).rejects.toMatchObject({ kind: "not-found" });
  await cordons.close();
  await store.close();
});
