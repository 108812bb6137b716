import type { ClusterName, UnitId } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { classifyUnit, type KnownDeployment } from "./surplus-units.ts";

const A = "a" as ClusterName;
const B = "b" as ClusterName;
const UNIT = "orders-a" as UnitId;

const record = (unitRevision: number, cluster: ClusterName): NonNullable<KnownDeployment["record"]> => ({
  unitRevision,
  placements: { [cluster]: { unitId: `orders-${cluster}` as UnitId, state: "wanted", accepted: true } },
});

describe("a unit owned by this installation", () => {
  const cases: {
    why: string;
    revision?: number;
    knows: KnownDeployment;
    is: ReturnType<typeof classifyUnit>;
  }[] = [
    { why: "a placement of its deployment", revision: 5, knows: { record: record(6, A) }, is: "wanted" },
    {
      why: "a placement that was sent by a newer state of the store",
      revision: 9,
      knows: { record: record(6, A) },
      is: "wanted",
    },
    { why: "a deployment that has left the cluster", revision: 5, knows: { record: record(6, B) }, is: "surplus" },
    { why: "the last issued revision", revision: 6, knows: { record: record(6, B) }, is: "surplus" },
    { why: "sent after the backup", revision: 7, knows: { record: record(6, B) }, is: "unaccounted" },
    {
      why: "the unit of another cluster: two names of one manager",
      revision: 5,
      knows: { record: { unitRevision: 6, placements: { [B]: { unitId: UNIT, state: "wanted", accepted: true } } } },
      is: "elsewhere",
    },
    {
      why: "that unit, when it is withdrawn there too",
      revision: 5,
      knows: {
        record: { unitRevision: 6, placements: { [B]: { unitId: UNIT, state: "withdrawn", accepted: false } } },
      },
      is: "surplus",
    },
    { why: "a deployment that ended later", revision: 5, knows: { endedWith: 6 }, is: "surplus" },
    { why: "a deployment created again after the backup", revision: 7, knows: { endedWith: 6 }, is: "unaccounted" },
    { why: "a deployment created after the backup", revision: 7, knows: {}, is: "unaccounted" },
    { why: "a manager that reports no revision", knows: { endedWith: 6 }, is: "unaccounted" },
  ];
  test.each(cases)("$why: $is", ({ revision, knows, is }) => {
    expect(classifyUnit(A, { unitId: UNIT, ...(revision === undefined ? {} : { revision }) }, knows)).toBe(is);
  });
});
