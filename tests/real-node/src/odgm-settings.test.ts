import { describe, expect, it } from "vitest";
import { readOdgmSettings } from "./odgm-settings.ts";

const ROUTE = { url: "http://cart.shop.svc.cluster.local/", stateless: true, standby: false, active_group: [] };
const COLLECTION = {
  name: "shop.Cart",
  partition_count: 1,
  replica_count: 1,
  shard_assignments: [{ primary: 7, replica: [1], shard_ids: [7] }],
  shard_type: "mst",
  options: {},
  invocations: { fn_routes: { add: ROUTE }, disabled_fn: [] },
};
const ENV = {
  ODGM_NODE_ID: "1",
  ODGM_MEMBERS: "1,2",
  ODGM_HTTP_PORT: "8080",
  OPRC_CLS_ID: "shop.Cart",
  ODGM_COLLECTION: JSON.stringify([COLLECTION]),
};
const collection = (changes: object) => ({ ODGM_COLLECTION: JSON.stringify([{ ...COLLECTION, ...changes }]) });

describe("readOdgmSettings", () => {
  it("reads the environment of a state store", () => {
    expect(readOdgmSettings(ENV)).toEqual({
      nodeId: 1n,
      members: [1n, 2n],
      port: 8080,
      classId: "shop.Cart",
      collections: [COLLECTION],
    });
  });

  it.each([
    { why: "a node id that is a name", env: { ODGM_NODE_ID: "cart-0", ODGM_MEMBERS: "cart-0" }, path: "ODGM_NODE_ID" },
    { why: "members without the node", env: { ODGM_MEMBERS: "2,3" }, path: "ODGM_MEMBERS" },
    { why: "no collections", env: { ODGM_COLLECTION: "[]" }, path: "ODGM_COLLECTION" },
    { why: "broken JSON", env: { ODGM_COLLECTION: "[" }, path: "ODGM_COLLECTION" },
    { why: "a class without package", env: { OPRC_CLS_ID: "Cart" }, path: "OPRC_CLS_ID" },
    { why: "an unknown shard type", env: collection({ shard_type: "paxos" }), path: "ODGM_COLLECTION[0].shard_type" },
    {
      why: "too few assignments",
      env: collection({ partition_count: 2 }),
      path: "ODGM_COLLECTION[0].shard_assignments",
    },
    {
      why: "a primary of another partition",
      env: collection({ shard_assignments: [{ primary: 8, replica: [1], shard_ids: [7] }] }),
      path: "ODGM_COLLECTION[0].shard_assignments[0].primary",
    },
    {
      why: "a route with a port",
      env: collection({ invocations: { fn_routes: { add: { ...ROUTE, url: "http://cart:80" } } } }),
      path: "ODGM_COLLECTION[0].invocations.fn_routes.add.url",
    },
  ])("rejects $why", ({ env, path }) => {
    const read = readOdgmSettings({ ...ENV, ...env });
    expect("violations" in read ? read.violations.map((each) => each.split(": ")[0]) : []).toContain(path);
  });
});
