import { sleep } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName, UnitId } from "@oaas/models";
import { describe, expect, it } from "vitest";
import { withReadTimeout, type ReadGateway } from "./read-timeout.ts";
import { reportOf } from "./testing/reports.ts";

const edge = "edge" as ClusterName;
const unit = "u" as UnitId;

/** A cluster that responds slowly. */
function slowCluster(delayMs: number) {
  const ambient = virtualAmbient(1);
  const signals: AbortSignal[] = [];
  const after = async <T>(signal: AbortSignal | undefined, answer: T): Promise<T> => {
    if (signal !== undefined) signals.push(signal);
    await sleep(ambient.timers, delayMs);
    return answer;
  };
  const gateway: ReadGateway = {
    unit: (cluster, id, options) => after(options?.signal, reportOf(cluster, id)),
    enforcement: (_cluster, _id, options) => after(options?.signal, undefined),
    usage: (_cluster, options) => after(options?.signal, []),
    explain: (_cluster, _id, options) => after(options?.signal, undefined),
    topology: (_cluster, options) => after(options?.signal, { nodes: [], edges: [], timestamp: "" }),
    async *runtimes(cluster, _query, options) {
      for (const id of ["a", "b", "c"]) yield await after(options?.signal, reportOf(cluster, id));
    },
  };
  return { gateway: withReadTimeout(gateway, ambient), time: ambient.time, signals };
}

const all = async (gateway: ReadGateway): Promise<number> => {
  let count = 0;
  for await (const _ of gateway.runtimes(edge, {})) count += 1;
  return count;
};

const READS: readonly { name: string; read: (gateway: ReadGateway) => Promise<unknown> }[] = [
  { name: "unit", read: (gateway) => gateway.unit(edge, unit) },
  { name: "enforcement", read: (gateway) => gateway.enforcement(edge, unit) },
  { name: "usage", read: (gateway) => gateway.usage(edge) },
  { name: "explain", read: (gateway) => gateway.explain(edge, unit) },
  { name: "topology", read: (gateway) => gateway.topology(edge) },
  { name: "runtimes", read: all },
];

describe("withReadTimeout", () => {
  it.each(READS)("$name: fails when the cluster does not respond", async ({ read }) => {
    const { gateway, time, signals } = slowCluster(60_000);
    const pending = expect(read(gateway)).rejects.toMatchObject({ kind: "deadline-exceeded" });
    await time.advance(5_000);
    await pending;
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it.each(READS)("$name: waits for a slow cluster", async ({ read }) => {
    const { gateway, time } = slowCluster(4_000);
    const pending = read(gateway);
    await time.advance(12_000);
    await expect(pending).resolves.not.toThrow();
  });

  it("applies the timeout to each part of a long list", async () => {
    const { gateway, time } = slowCluster(4_000);
    const pending = all(gateway);
    await time.advance(12_000);
    expect(await pending).toBe(3);
  });
});
