import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assignSeries, ComponentIndex, type ComponentTarget } from "./assign-series.ts";
import { PodIndex } from "./pod-names.ts";
import { countAbove } from "./slow-requests.ts";

const at = (value: number, atMs = 0) => [{ atMs, value }];

function functionOf(owner: string, functionLabel: string, workload: string, extra: Partial<ComponentTarget> = {}) {
  const workloads = [{ kind: "Deployment", namespace: "ns", name: workload }] as const;
  return { key: `${owner}/${functionLabel}`, namespace: "ns", owner, functionLabel, workloads, ...extra };
}

describe("PodIndex", () => {
  const index = new PodIndex<string>();
  const long = "a".repeat(50);
  const longer = "b".repeat(60);
  index.add({ kind: "Deployment", namespace: "ns", name: "web" }, "web");
  index.add({ kind: "Deployment", namespace: "ns", name: "web-api" }, "web-api");
  index.add({ kind: "StatefulSet", namespace: "ns", name: "web-odgm" }, "odgm");
  index.add({ kind: "DaemonSet", namespace: "ns", name: "agent" }, "agent");
  index.add({ kind: "Knative", namespace: "ns", name: "greeter" }, "greeter");
  index.add({ kind: "Deployment", namespace: "ns", name: long }, "long");
  index.add({ kind: "Deployment", namespace: "ns", name: longer }, "longer");

  it.each([
    ["web-7d4b9c6f5d-x2x4z", "web"],
    ["web-api-7d4b9c6f5d-x2x4z", "web-api"],
    ["web-odgm-0", "odgm"],
    ["web-odgm-12", "odgm"],
    ["agent-x2x4z", "agent"],
    ["greeter-00012-deployment-6c8d9f7b5-lmnpq", "greeter"],
    [`${`${long}-7d4b9c6f5d-`.slice(0, 58)}x2x4z`, "long"],
    [`${longer.slice(0, 58)}x2x4z`, "longer"],
    // Other workloads with the same prefix.
    ["web-admin-7d4b9c6f5d-x2x4z", undefined],
    ["web-odgm-7d4b9c6f5d-x2x4z", undefined],
    ["web-odgm-backup-0", undefined],
    ["webshop-7d4b9c6f5d-x2x4z", undefined],
    ["web", undefined],
    ["web-", undefined],
    ["greeter-7d4b9c6f5d-x2x4z", undefined],
    ["greeter-00012-7d4b9c6f5d-x2x4z", undefined],
  ])("%s belongs to %s", (pod, expected) => {
    expect(index.find("ns", pod)).toBe(expected);
    expect(index.find("other", pod)).toBeUndefined();
  });

  it("finds each pod of a Deployment and never takes the pod of another one", () => {
    const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,20}[a-z0-9])?$/);
    const generated = (length: number) => fc.stringMatching(new RegExp(`^[bcdfghjklmnpqrstvwxz2456789]{${length}}$`));
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 2, maxLength: 6 }),
        generated(10),
        generated(5),
        (names, hash, suffix) => {
          const many = new PodIndex<string>();
          const [removed, ...kept] = names;
          for (const one of kept) many.add({ kind: "Deployment", namespace: "ns", name: one }, one);
          for (const one of kept) expect(many.find("ns", `${one}-${hash}-${suffix}`)).toBe(one);
          expect(many.find("ns", `${removed}-${hash}-${suffix}`)).toBeUndefined();
        },
      ),
    );
  });
});

describe("assignSeries", () => {
  const odgm: ComponentTarget = {
    key: "web/odgm",
    namespace: "ns",
    owner: "web",
    workloads: [{ kind: "StatefulSet", namespace: "ns", name: "web-odgm" }],
  };
  const hello = functionOf("web", "hello", "web", { deploymentId: "d-1", pods: ["renamed"], maxLatencyMs: 300 });
  const api = functionOf("web-api", "api", "web-api");
  const greeter: ComponentTarget = {
    ...functionOf("greeter", "greet", "greeter"),
    workloads: [{ kind: "Knative", namespace: "ns", name: "greeter" }],
    maxLatencyMs: 50,
  };
  const index = new ComponentIndex([hello, odgm, api, greeter]);
  const assign = (signal: Parameters<typeof assignSeries>[1], rows: [Record<string, string>, number][]) => {
    const { signals, unassigned } = assignSeries(
      index,
      signal,
      rows.map(([labels, value]) => ({ labels: { namespace: "ns", ...labels }, samples: at(value) })),
    );
    return { unassigned, totals: Object.fromEntries([...signals].map(([key, { total }]) => [key, total[0]?.value])) };
  };

  it("splits by owner and function, and gives series without a function to the state store", () => {
    const { totals, unassigned } = assign("requests_per_second", [
      [{ oaas_owner: "web", function: "hello" }, 1],
      [{ oaas_owner: "web" }, 2],
      [{ oaas_owner: "web-api" }, 4],
      [{ oaas_owner: "web", function: "removed" }, 8],
      [{ oaas_owner: "stranger" }, 16],
      [{ namespace: "other", oaas_owner: "web", function: "hello" }, 32],
    ]);
    expect(totals).toEqual({ "web/hello": 1, "web/odgm": 2, "web-api/api": 4 });
    expect(unassigned).toBe(3);
  });

  it("does not guess between two functions", () => {
    const two = new ComponentIndex([functionOf("c", "a", "c-fn-0"), functionOf("c", "b", "c-fn-1")]);
    const result = assignSeries(two, "requests_per_second", [
      { labels: { namespace: "ns", oaas_owner: "c" }, samples: at(1) },
    ]);
    expect(result).toEqual({ signals: new Map(), unassigned: 1 });
  });

  it("splits by pod, known or by name, and keeps each pod", () => {
    const { signals } = assignSeries(index, "cpu_millicores", [
      { labels: { namespace: "ns", pod: "web-7d4b9c6f5d-x2x4z" }, samples: at(100) },
      { labels: { namespace: "ns", pod: "renamed" }, samples: at(50) },
      { labels: { namespace: "ns", pod: "web-odgm-0" }, samples: at(7) },
    ]);
    expect(signals.get("web/hello")?.total).toEqual(at(150));
    expect([...(signals.get("web/hello")?.pods.keys() ?? [])]).toEqual(["web-7d4b9c6f5d-x2x4z", "renamed"]);
    expect(signals.get("web/odgm")?.total).toEqual(at(7));
  });

  it("combines by the meaning of the signal", () => {
    const revisions = (signal: Parameters<typeof assignSeries>[1]) =>
      assign(signal, [
        [{ deployment: "greeter-00001-deployment" }, 0.5],
        [{ deployment: "greeter-00002-deployment" }, 1],
      ]).totals["greeter/greet"];
    expect([revisions("availability"), revisions("ready_replicas"), revisions("latency_p99_ms")]).toEqual([
      0.5, 1.5, 1,
    ]);
  });

  it("does not count a request twice when Knative and the function measure it", () => {
    const rows: [Record<string, string>, number][] = [
      [{ oaas_owner: "greeter", function: "greet" }, 10],
      [{ namespace_name: "ns", configuration_name: "greeter" }, 11],
    ];
    expect(assign("requests_per_second", rows).totals).toEqual({ "greeter/greet": 11 });
    expect(assign("requests_per_second", rows.toReversed()).totals).toEqual({ "greeter/greet": 11 });
  });

  it("counts slow requests by the limit of each component, in the unit of its histogram", () => {
    const buckets = (labels: Record<string, string>, rows: Record<string, number>) =>
      Object.entries(rows).map(([le, value]): [Record<string, string>, number] => [{ ...labels, le }, value]);
    const { totals } = assign("slow_requests_per_second", [
      ...buckets({ oaas_owner: "web", function: "hello" }, { "0.1": 18, "0.5": 20, "+Inf": 20 }),
      ...buckets({ namespace_name: "ns", configuration_name: "greeter" }, { "10": 1, "100": 10, "+Inf": 12 }),
      ...buckets({ oaas_owner: "web-api", function: "api" }, { "+Inf": 5 }),
    ]);
    expect(totals["web/hello"]).toBeCloseTo(1, 9);
    expect(totals["greeter/greet"]).toBeCloseTo(12 - (1 + 9 * (40 / 90)), 9);
    expect(totals["web-api/api"]).toBeUndefined();
  });

  it("keeps samples in the order of time when series have gaps", () => {
    const { signals } = assignSeries(index, "cpu_millicores", [
      { labels: { namespace: "ns", pod: "web-7d4b9c6f5d-x2x4z" }, samples: [...at(1, 30), ...at(1, 60)] },
      { labels: { namespace: "ns", pod: "web-7d4b9c6f5d-b5c6d" }, samples: [...at(1, 0), ...at(1, 60)] },
    ]);
    expect(signals.get("web/hello")?.total).toEqual([...at(1, 0), ...at(1, 30), ...at(2, 60)]);
  });
});

describe("countAbove", () => {
  const buckets = (pairs: readonly (readonly [number, number])[]) => pairs.map(([bound, count]) => ({ bound, count }));
  it.each([
    [100, 2],
    [300, 1],
    [500, 0.5],
    [9_000, 0.5],
    [0, 20],
    [50, 11],
  ])("limit %d: %d slow requests", (limit, expected) => {
    const histogram = buckets([[100, 18], [500, 19.5], [Number.POSITIVE_INFINITY, 20]]); // prettier-ignore
    expect(countAbove(histogram, limit === 300 ? 100 + 400 * (2 / 3) : limit)).toBeCloseTo(expected, 9);
  });

  it("needs the bucket of all requests", () => {
    expect(countAbove(buckets([[100, 18]]), 50)).toBeUndefined();
    expect(countAbove([], 50)).toBeUndefined();
  });

  it("is between zero and all requests, and decreases with the limit", () => {
    const histogram = fc
      .tuple(fc.uniqueArray(fc.nat(1_000), { maxLength: 8 }), fc.array(fc.nat(100), { minLength: 9, maxLength: 9 }))
      .map(([bounds, counts]) => {
        let sum = 0;
        const finite = bounds.toSorted((a, b) => a - b).map((bound, i) => ({ bound, count: (sum += counts[i] ?? 0) }));
        return [...finite, { bound: Number.POSITIVE_INFINITY, count: sum + (counts[8] ?? 0) }];
      });
    fc.assert(
      fc.property(histogram, fc.nat(1_200), fc.nat(200), (all, limit, more) => {
        const slow = countAbove(all, limit) ?? -1;
        expect(slow).toBeGreaterThanOrEqual(0);
        expect(slow).toBeLessThanOrEqual((all.at(-1)?.count ?? 0) + 1e-9);
        expect(countAbove(all, limit + more) ?? -1).toBeLessThanOrEqual(slow + 1e-9);
      }),
    );
  });
});
