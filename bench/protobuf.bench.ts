import { create, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { DeploymentUnitSchema, type DeploymentUnit } from "@oaas/contracts/grpc";
import { Bench as Timing } from "tinybench";
import type { Bench } from "./harness.ts";

const FUNCTIONS = 20;

/** The message of the package manager to each cluster, compared with JSON of the same content. */
export const bench: Bench = {
  name: "protobuf",
  async run(log) {
    const unit = exampleUnit();
    const bytes = toBinary(DeploymentUnitSchema, unit);
    const plain = toJson(DeploymentUnitSchema, unit);
    const text = JSON.stringify(plain);
    log(`DeploymentUnit with ${FUNCTIONS} functions: ${bytes.length} bytes, as JSON ${text.length} characters`);

    const timing = new Timing({ time: 1_000, warmupTime: 300 })
      .add("encode", () => void toBinary(DeploymentUnitSchema, unit))
      .add("decode", () => void fromBinary(DeploymentUnitSchema, bytes))
      .add("JSON.stringify", () => void JSON.stringify(plain))
      .add("JSON.parse", () => void JSON.parse(text));
    await timing.run();
    const rate = (name: string): number => {
      const result = timing.getTask(name)?.result;
      if (result?.state !== "completed") throw new Error(`${name} was not measured`);
      return result.throughput.mean;
    };

    return {
      title: `Protobuf: a DeploymentUnit with ${FUNCTIONS} functions`,
      measurements: [
        ...timing.tasks.map((task) => ({ name: task.name, value: Math.round(rate(task.name)), unit: "per second" })),
        { name: "size", value: bytes.length, unit: "bytes", note: `as JSON ${text.length} characters` },
      ],
      ratios: [
        {
          name: "encode / JSON.stringify",
          value: rate("encode") / rate("JSON.stringify"),
          explains: "JSON's writer is native code; ours is JavaScript and also checks every value's type",
        },
        {
          name: "decode / JSON.parse",
          value: rate("decode") / rate("JSON.parse"),
          explains: "JSON's reader is native code; ours also gives typed messages with 64-bit numbers",
        },
        {
          name: "JSON size / size",
          value: text.length / bytes.length,
          explains: "bytes saved on the network",
        },
      ],
    };
  },
};

function exampleUnit(): DeploymentUnit {
  const keys = Array.from({ length: FUNCTIONS }, (_, index) => `Order.step-${index}`);
  return create(DeploymentUnitSchema, {
    id: "order-3f9a1c2e",
    packageName: "shop",
    classKey: "Order",
    targetEnv: "edge-1",
    createdAt: { seconds: 1_772_668_800n, nanos: 0 },
    functions: keys.map((functionKey) => ({
      functionKey,
      description: "one step of an order",
      nfrRequirements: { minThroughputRps: 500, availability: 0.999, maxLatencyMs: 120 },
      provisionConfig: {
        containerImage: "registry.example/shop/order-step:1.4.2",
        port: 8080,
        cpuRequest: "250m",
        memoryRequest: "256Mi",
        cpuLimit: "1",
        memoryLimit: "512Mi",
        minScale: 3,
        maxScale: 20,
      },
      config: { HTTP_PORT: "8080", LOG_LEVEL: "info" },
    })),
    functionBindings: keys.map((functionKey, index) => ({
      name: `step${index}`,
      functionKey,
      accessModifier: "Public",
      stateless: false,
    })),
    odgmConfig: {
      collections: ["shop.Order"],
      partitionCount: 8,
      replicaCount: 3,
      shardType: "raft",
      envNodeIds: { "edge-1": { ids: [1n] }, "edge-2": { ids: [2n] }, "cloud-1": { ids: [3n] } },
      odgmNodeId: 1n,
      collectionAssignments: {
        "shop.Order": {
          assignments: Array.from({ length: 8 }, (_, partition) => {
            const first = BigInt(partition * 3 + 1);
            return { primary: first, replica: [1n, 2n, 3n], shardIds: [first, first + 1n, first + 2n] };
          }),
        },
      },
    },
    digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    revision: 7n,
  });
}
