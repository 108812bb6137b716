import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeploymentUnitSchema, FunctionType, StateShape } from "@oaas/contracts/grpc";
import type { ClassKey, ClusterName, DeploymentKey, FunctionKey, PackageName, UnitId } from "@oaas/models";
import { describe, expect, it } from "vitest";
import type { DeploymentPlan, PlannedUnit } from "../../../planner/plan-types.ts";
import type { UnitEnvelope } from "../../../sagas/unit-sender.ts";
import { unitEncoder } from "./unit-to-wire.ts";

const unit: PlannedUnit = {
  unitId: "cart-1a2b" as UnitId,
  cluster: "edge" as ClusterName,
  template: "dev",
  functions: [
    { functionKey: "Cart.add" as FunctionKey, minScale: 3, maxScale: 9, basis: "availability", reason: "quorum" },
  ],
};

const plan: DeploymentPlan = {
  digest: "p",
  sizing: { target: 0.99, algorithm: "quorum", strong: false, atLeast: 1 },
  achievedAvailability: 0.999,
  bestEffort: false,
  replicas: 3,
  clusters: [],
  decisions: [],
  units: [unit],
  shared: {
    deploymentKey: "cart" as DeploymentKey,
    packageName: "shop" as PackageName,
    packageRevision: 4,
    classKey: "Cart" as ClassKey,
    functions: [
      {
        functionKey: "Cart.add" as FunctionKey,
        functionType: "custom",
        nfr: { minThroughputRps: 100 },
        provision: { maxConcurrency: 0, needHttp2: false, containerImage: "add:1", minScale: 1 },
        config: { A: "1" },
      },
    ],
    bindings: [
      {
        name: "add",
        functionKey: "Cart.add" as FunctionKey,
        accessModifier: "public",
        stateless: false,
        parameters: [],
        triggerOnStateChange: false,
        asyncExecution: false,
      },
      {
        name: "gone",
        functionKey: "Cart.gone" as FunctionKey,
        accessModifier: "private",
        stateless: true,
        parameters: [],
        triggerOnStateChange: false,
        asyncExecution: false,
      },
    ],
    nfr: { availability: 0.99 },
    state: {
      keySpecs: [],
      defaultProvider: "",
      consistencyModel: "strong",
      shape: "collection",
      persistent: true,
      serializationFormat: "",
    },
    addons: [],
  },
  odgm: {
    collections: ["shop.Cart"],
    partitionCount: 2,
    replicaCount: 1,
    shardType: "raft",
    log: "info",
    nodeIds: { edge: [7], cloud: [9] },
    assignments: { "shop.Cart": [{ primary: 1, replica: [7, 9], shardIds: [1, 2] }] },
  },
};

const envelope: UnitEnvelope = { revision: 2, createdAtMs: 1_700_000_000_123, managedBy: "pm-1" };

describe("unitToWire", () => {
  const wire = unitEncoder.withEnvelope(unitEncoder.encode(plan, unit), envelope);

  it("contains what the user permits to happen to objects, and its digest depends on it", () => {
    const permitted = { ...plan, odgm: { ...plan.odgm!, allowLayoutChange: true, allowRestart: true } };
    const encoded = unitEncoder.encode(permitted, unit);
    expect(encoded.odgmConfig).toMatchObject({ allowLayoutChange: true, allowRestart: true });
    expect(encoded.digest).not.toBe(wire.digest);
    expect([wire.odgmConfig?.allowLayoutChange, wire.odgmConfig?.allowRestart]).toEqual([undefined, undefined]);
  });

  it("contains the plan of its cluster", () => {
    expect(wire).toMatchObject({
      id: "cart-1a2b",
      packageName: "shop",
      classKey: "Cart",
      targetEnv: "edge",
      selectedTemplate: "dev",
      revision: 2n,
      managedBy: "pm-1",
      deploymentKey: "cart",
      packageRevision: "4",
      createdAt: { seconds: 1_700_000_000n, nanos: 123_000_000 },
      addons: { names: [] },
      state: { persistent: true, shape: StateShape.COLLECTION },
      nfrRequirements: { availability: 0.99 },
    });
    expect(wire.functions[0]).toMatchObject({
      functionType: FunctionType.CUSTOM,
      provisionConfig: { containerImage: "add:1", minScale: 3, maxScale: 9 },
      nfrRequirements: { minThroughputRps: 100 },
    });
    expect(wire.functionBindings.map(({ name, accessModifier }) => [name, accessModifier])).toEqual([
      ["add", "Public"],
      ["gone", "Private"],
    ]);
  });

  it("does not name an EnvironmentConfig after the environment kind, which only selects clusters", () => {
    const shared = { ...plan.shared, environmentKind: "edge" };
    expect(
      unitEncoder.withEnvelope(unitEncoder.encode({ ...plan, shared }, unit), envelope).environment,
    ).toBeUndefined();
  });

  it("routes only to deployed functions and uses the first node id of the cluster", () => {
    const odgm = wire.odgmConfig;
    expect(Object.keys(odgm?.invocations?.fnRoutes ?? {})).toEqual(["add"]);
    expect(odgm).toMatchObject({ odgmNodeId: 7n, envNodeIds: { cloud: { ids: [9n] } }, shardType: "raft" });
    expect(odgm?.collectionAssignments["shop.Cart"]?.assignments[0]).toMatchObject({ primary: 1n, replica: [7n, 9n] });
  });

  it("survives encoding and decoding", () => {
    expect(fromBinary(DeploymentUnitSchema, toBinary(DeploymentUnitSchema, wire))).toEqual(wire);
  });

  const digests: { name: string; plan: DeploymentPlan; envelope: UnitEnvelope; same: boolean; why: string }[] = [
    {
      name: "another envelope",
      plan,
      envelope: { revision: 9, createdAtMs: 0, managedBy: "pm-2" },
      same: true,
      why: "the envelope is not desired content",
    },
    {
      name: "another image",
      plan: {
        ...plan,
        shared: {
          ...plan.shared,
          functions: plan.shared.functions.map((one) => ({
            ...one,
            provision: { ...one.provision, containerImage: "add:2" },
          })),
        },
      },
      envelope,
      same: false,
      why: "the desired content differs",
    },
    {
      name: "other reasons",
      plan: { ...plan, digest: "q", achievedAvailability: 0.5, decisions: [] },
      envelope,
      same: true,
      why: "reasons are not desired content",
    },
  ];
  it.each(digests)("digest with $name: $why", ({ plan: other, envelope: otherEnvelope, same }) => {
    const encoded = unitEncoder.withEnvelope(unitEncoder.encode(other, unit), otherEnvelope);
    expect(encoded.digest === wire.digest).toBe(same);
  });
});
