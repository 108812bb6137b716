import { sleep } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName, UnitId } from "@oaas/models";
import { describe, expect, it } from "vitest";
import { withReadTimeout, type ReadGateway } from "./read-timeout.ts";
import { reportOf } from "./testing/reports.ts";

const edge = "edge" as ClusterName;
const unit = "u" as UnitId;

/** A cluster that takes its time for each answer. */
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

const QUESTIONS: readonly { name: string; ask: (gateway: ReadGateway) => Promise<unknown> }[] = [
  { name: "a unit", ask: (gateway) => gateway.unit(edge, unit) },
  { name: "why", ask: (gateway) => gateway.explain(edge, unit) },
  { name: "the topology", ask: (gateway) => gateway.topology(edge) },
  { name: "all units", ask: all },
];

describe("reading from a cluster", () => {
  it.each(QUESTIONS)("$name: whoever says nothing is not waited for, and is told so", async ({ ask }) => {
    const { gateway, time, signals } = slowCluster(60_000);
    const asked = expect(ask(gateway)).rejects.toMatchObject({ kind: "deadline-exceeded" });
    await time.advance(5_000);
    await asked;
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it.each(QUESTIONS)("$name: whoever is slow is waited for", async ({ ask }) => {
    const { gateway, time } = slowCluster(4_000);
    const asked = ask(gateway);
    await time.advance(12_000);
    await expect(asked).resolves.not.toThrow();
  });

  it("a long list is waited for part by part", async () => {
    const { gateway, time } = slowCluster(4_000);
    const asked = all(gateway);
    await time.advance(12_000);
    expect(await asked).toBe(3);
  });
});
