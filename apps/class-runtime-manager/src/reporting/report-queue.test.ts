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

test("of each class the newest state waits; states go before numbers", () => {
  const queue = new ReportQueue();
  queue.put(report("a", 1, { about: "metrics" }));
  queue.put(report("a", 1));
  queue.put(report("b", 2));
  queue.put(report("a", 3));
  expect(queue.size).toBe(3);
  expect(names(queue.take(2))).toEqual(["status b@2", "status a@3"]);
  expect(names(queue.take(9))).toEqual(["metrics a@1"]);
});

test("what is put back never replaces something newer", () => {
  const queue = new ReportQueue();
  const old = report("a", 1);
  queue.put(report("a", 2));
  queue.putBack(old);
  expect(names(queue.take(9))).toEqual(["status a@2"]);
  queue.putBack(old);
  expect(names(queue.take(9))).toEqual(["status a@1"]);
});

test("classes that are gone are remembered up to a limit, those that are there always", () => {
  const queue = new ReportQueue(2);
  queue.put(report("there", 1));
  const dropped = ["x", "y", "z"].map((name) => queue.put(report(name, 1, { isDeleted: true })));
  expect(dropped).toEqual([0, 0, 1]);
  expect(names(queue.take(9))).toEqual(["status there@1", "status y@1", "status z@1"]);
});

test("whatever happens: no class twice, never more than there are, and versions of a class only grow", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("put"), name: fc.constantFrom("a", "b", "c"), gone: fc.boolean() }),
    fc.record({ do: fc.constantFrom("take", "back") }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new ReportQueue(2);
      const told = new Map<string, number>();
      let version = 0;
      let inHand: Report[] = [];
      for (const each of steps) {
        if (each.do === "put" && "name" in each) queue.put(report(each.name, (version += 1), { isDeleted: each.gone }));
        if (each.do === "back") for (const one of inHand.splice(0)) queue.putBack(one);
        if (each.do === "take") {
          for (const { object } of inHand) told.set(object.metadata.name, Number(object.metadata.resourceVersion));
          inHand = queue.take(2);
          expect(new Set(names(inHand)).size).toBe(inHand.length);
          for (const { object } of inHand) {
            expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(told.get(object.metadata.name) ?? 0);
          }
        }
        expect(queue.size).toBeLessThanOrEqual(3);
      }
    }),
  );
});
