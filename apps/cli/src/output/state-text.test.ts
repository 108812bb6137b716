import { expect, test } from "vitest";
import { createColours } from "./colours.ts";
import { stateLines } from "./state-text.ts";

type State = Parameters<typeof stateLines>[0];

const HEALTHY = { ready: true, desired_replicas: 1, ready_replicas: 1, writable: true, missing_shards: [] };
const on = (cluster: string, state_store?: object, reachable = true) => ({ cluster, reachable, state_store });
const lines = (state: object): readonly string[] => stateLines(state as State, createColours(false, {}));

test("says in one line where the state can be written, and nothing for a class without state", () => {
  expect(lines({ clusters: [on("edge", HEALTHY), on("cloud", HEALTHY)] })).toEqual(["state: writable in edge, cloud"]);
  expect(lines({ clusters: [on("edge")] })).toEqual([]);
  expect(lines({ clusters: [on("edge", HEALTHY, false)] })).toEqual([]);
});

test("names every problem of a cluster", () => {
  const missing_shards = [{ node_id: 2, collection: "shop.Order", partition: 3 }];
  const restart = { state: "refused", reason: "LastCopy", message: "set odgm.allow_restart", nodes: [2] };
  expect(
    lines({ clusters: [on("edge", { ...HEALTHY, writable: false, message: "no leader", missing_shards, restart })] }),
  ).toEqual([
    "state in edge: missing shard: node 2 lacks partition 3 of shop.Order",
    "state in edge: writes are not acknowledged: no leader",
    "state in edge: restart refused: set odgm.allow_restart",
  ]);
  expect(lines({ clusters: [on("edge", { ...HEALTHY, writable: undefined })] })).toEqual([
    "state in edge: not known whether it can be written",
  ]);
});

test("shows the turn, the nodes that wait, and why no node has a turn", () => {
  const waiting = [{ cluster: "cloud", node_id: 2 }];
  const turn = { id: "t", cluster: "edge", node_id: 1, since: "2026-01-01T00:00:00Z" };
  expect(lines({ clusters: [], state_restart: { turn, waiting, message: "it restarts" } })).toEqual([
    "restart over clusters: node 1 in edge since 2026-01-01T00:00:00Z: it restarts",
    "  nodes that wait for their turn: 2 in cloud",
  ]);
  expect(lines({ clusters: [], state_restart: { waiting, message: "core: it does not answer" } })[0]).toBe(
    "restart over clusters: no node: core: it does not answer",
  );
});
