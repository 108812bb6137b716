import { Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, it } from "vitest";
import type { StoredClass } from "../../classes/ports.ts";
import { measuredFunction } from "../../nfr/testing/measured-function.ts";
import { readSignals, type ReadSignalsDeps } from "./read-signals.ts";

const OBJECT = { metadata: { name: "web", namespace: "shop", uid: "u" }, spec: {} } as unknown as StoredClass;
const { clock } = virtualAmbient(1);

function read(
  request: { component?: string; rangeSeconds?: number; stepSeconds?: number },
  over: Partial<ReadSignalsDeps> = {},
  components = [measuredFunction(), measuredFunction({ component: "odgm" })],
) {
  const deps: ReadSignalsDeps = {
    clock,
    events: async () => [],
    signals: () => ({
      componentsOf: () => components,
      read: async (selected) =>
        selected.map(({ component }) => ({
          component,
          signal: "ready_replicas",
          values: [1, Number.NaN],
          target: { kind: "requested", value: 2 },
        })),
    }),
    ...over,
  };
  return readSignals(OBJECT, request, deps, new AbortController().signal);
}

it("reads all components, or the named one", async () => {
  expect((await read({})).series?.map(({ component }) => component)).toEqual(["f", "odgm"]);
  const { series, stepSeconds } = await read({ component: "odgm", rangeSeconds: 60 });
  expect(series).toEqual([
    { component: "odgm", signal: "ready_replicas", values: [1, Number.NaN], target: 2, targetKind: "requested" },
  ]);
  expect(stepSeconds).toBe(1);
});

it("returns not-found for another component, with the known ones", async () => {
  await expect(read({ component: "x" })).rejects.toThrow('component "x" was not found: the class runs f, odgm');
});

it("fails without a metrics provider, with the setting to change", async () => {
  const failing = read({}, { signals: () => undefined });
  await expect(failing).rejects.toThrow("OPRC_CRM_PROM_URL");
  expect(Fault.from(await failing.catch((thrown: unknown) => thrown)).kind).toBe("failed-precondition");
});

it("rejects a range that is out of bounds before it looks for a provider", async () => {
  await expect(read({ rangeSeconds: 1 }, { signals: () => undefined })).rejects.toThrow("range_seconds");
});

it("rejects more values than a response may have, with the fix", async () => {
  const many = Array.from({ length: 100 }, (_, index) => measuredFunction({ component: `f${index}` }));
  await expect(read({ rangeSeconds: 3600, stepSeconds: 5 }, {}, many)).rejects.toThrow("name a component");
  expect((await read({ rangeSeconds: 3600, stepSeconds: 60 }, {}, many)).series).toHaveLength(100);
});

it("keeps the marks of the status when Events cannot be listed", async () => {
  const at = new Date(clock.now()).toISOString();
  const status = {
    last_applied_recommendations: [{ component: "f", dimension: "replicas", target: 3, applied_at: at }],
  };
  const deps = {
    clock,
    events: () => Promise.reject(new Error("forbidden")),
    signals: () => ({ componentsOf: () => [], read: async () => [] }),
  };
  const { marks } = await readSignals({ ...OBJECT, status } as StoredClass, {}, deps, new AbortController().signal);
  expect(marks).toEqual([{ at, component: "f", dimension: "replicas", action: "apply", to: 3 }]);
});
