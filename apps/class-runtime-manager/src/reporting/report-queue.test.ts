import fc from "fast-check";
import { expect, test } from "vitest";
import { ReportQueue, type Report } from "./report-queue.ts";

const report = (name: string, version: number, over: Partial<Report> = {}): Report => ({
  about: "status",
  isDeleted: false,
  object: {
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { namespace: "shop", name, uid: name, resourceVersion: String(version) },
    spec: {},
  },
  ...over,
});
const names = (reports: readonly Report[]): string[] =>
  reports.map(({ about, object }) => `${about} ${object.metadata.name}@${object.metadata.resourceVersion}`);

test("keeps the newest report of each class, status before metrics", () => {
  const queue = new ReportQueue();
  queue.put(report("a", 1, { about: "metrics" }));
  queue.put(report("a", 1));
  queue.put(report("b", 2));
  queue.put(report("a", 3));
  expect(queue.size).toBe(3);
  expect(names(queue.take(2))).toEqual(["status b@2", "status a@3"]);
  expect(names(queue.take(9))).toEqual(["metrics a@1"]);
});

test("putBack never replaces a newer report", () => {
  const queue = new ReportQueue();
  const old = report("a", 1);
  queue.put(report("a", 2));
  queue.putBack(old);
  expect(names(queue.take(9))).toEqual(["status a@2"]);
  queue.putBack(old);
  expect(names(queue.take(9))).toEqual(["status a@1"]);
});

test("limits the pending deletions, but not other reports", () => {
  const queue = new ReportQueue(2);
  queue.put(report("existing", 1));
  const dropped = ["x", "y", "z"].map((name) => queue.put(report(name, 1, { isDeleted: true })));
  expect(dropped).toEqual([0, 0, 1]);
  expect(names(queue.take(9))).toEqual(["status existing@1", "status y@1", "status z@1"]);
});

test("returns no class twice, stays bounded, and never returns an older version of a class", () => {
  const step = fc.oneof(
    fc.record({ action: fc.constant("put"), name: fc.constantFrom("a", "b", "c"), isDeleted: fc.boolean() }),
    fc.record({ action: fc.constantFrom("take", "putBack") }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new ReportQueue(2);
      const sent = new Map<string, number>();
      let version = 0;
      let taken: Report[] = [];
      for (const each of steps) {
        if (each.action === "put" && "name" in each)
          queue.put(report(each.name, (version += 1), { isDeleted: each.isDeleted }));
        if (each.action === "putBack") for (const one of taken.splice(0)) queue.putBack(one);
        if (each.action === "take") {
          for (const { object } of taken) sent.set(object.metadata.name, Number(object.metadata.resourceVersion));
          taken = queue.take(2);
          expect(new Set(names(taken)).size).toBe(taken.length);
          for (const { object } of taken) {
            expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(sent.get(object.metadata.name) ?? 0);
          }
        }
        expect(queue.size).toBeLessThanOrEqual(3);
      }
    }),
  );
});
