import { virtualAmbient } from "@oaas/foundation/virtual";
import type { KubeObject, Stored } from "@oaas/kube-core";
import { describe, expect, test } from "vitest";
import { KubeClient } from "../client/kube-client.ts";
import { resourceType } from "../client/resource-type.ts";
import { memoryApi } from "../testing/memory-api.ts";
import { withFinalizer } from "./finalizer.ts";

const THINGS = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Thing",
  resource: "things",
  namespaced: true,
});
const KEY = { namespace: "ns", name: "a" };
const OURS = "example.com/ours";
const THEIRS = "example.com/theirs";

async function setUp(finalizers: readonly string[] = []) {
  const api = memoryApi();
  const client = new KubeClient({ transport: api.transport, ambient: virtualAmbient(1) }).resource(THINGS);
  const made = await client.create({ apiVersion: "v1", kind: "Thing", metadata: { ...KEY, finalizers } });
  const log: string[] = [];
  const present = (): Promise<Stored<KubeObject> | undefined> => client.find(KEY);
  const run = (object: Stored<KubeObject>, answer: "clean" | "later" = "clean"): Promise<string | undefined> =>
    withFinalizer(client, object, OURS, {
      apply: async ({ metadata }) => {
        log.push(`apply with ${metadata.finalizers?.join() ?? "none"}`);
        return "applied";
      },
      cleanUp: async () => {
        log.push("clean up");
        return answer;
      },
    });
  return { api, client, made, log, present, run };
}

describe("alive", () => {
  test("the finalizer is on the server before apply runs, behind those of others", async () => {
    const world = await setUp([THEIRS]);
    expect(await world.run(world.made)).toBe("applied");
    expect(world.log).toEqual([`apply with ${THEIRS},${OURS}`]);
    expect((await world.present())?.metadata.finalizers).toEqual([THEIRS, OURS]);
  });

  test("with the finalizer nothing is written", async () => {
    const world = await setUp([OURS]);
    await world.run(world.made);
    expect(world.api.transport.sent.filter(({ method }) => method === "PATCH")).toEqual([]);
    expect(world.log).toHaveLength(1);
  });

  test("a list that someone else changed is a conflict, and nothing is applied", async () => {
    const world = await setUp();
    await world.client.patch(KEY, "merge", { metadata: { finalizers: [THEIRS] } });
    await expect(world.run(world.made)).rejects.toMatchObject({ kind: "conflict", retryable: true });
    expect(world.log).toEqual([]);
    expect((await world.present())?.metadata.finalizers).toEqual([THEIRS]);
  });

  test("an object that is gone is nothing to do, and nothing is applied", async () => {
    const world = await setUp();
    await world.client.delete(KEY);
    expect(await world.run(world.made)).toBeUndefined();
    expect(world.log).toEqual([]);
  });
});

describe("to be deleted", () => {
  const deleted = async (finalizers: readonly string[]) => {
    const world = await setUp(finalizers);
    await world.client.delete(KEY);
    return { ...world, dying: (await world.present())! };
  };

  test("clean: the finalizer goes, the others stay", async () => {
    const world = await deleted([OURS, THEIRS]);
    expect(await world.run(world.dying)).toBeUndefined();
    expect((await world.present())?.metadata.finalizers).toEqual([THEIRS]);
  });

  test("clean, and ours was the last: the object goes", async () => {
    const world = await deleted([OURS]);
    await world.run(world.dying);
    expect(await world.present()).toBeUndefined();
    expect(await world.run(world.dying)).toBeUndefined();
    expect(world.log).toEqual(["clean up", "clean up"]);
  });

  test("not clean yet: the finalizer stays and the answer is the step's", async () => {
    const world = await deleted([OURS]);
    expect(await world.run(world.dying, "later")).toBe("later");
    expect((await world.present())?.metadata.finalizers).toEqual([OURS]);
  });

  test("without our finalizer nothing is ours to do", async () => {
    const world = await deleted([THEIRS]);
    expect(await world.run(world.dying)).toBeUndefined();
    expect(world.log).toEqual([]);
  });

  test("a list that someone else changed is a conflict: clean up runs again next time", async () => {
    const world = await deleted([OURS, THEIRS]);
    await world.client.patch(KEY, "merge", { metadata: { finalizers: [OURS] } });
    await expect(world.run(world.dying)).rejects.toMatchObject({ kind: "conflict" });
    expect((await world.present())?.metadata.finalizers).toEqual([OURS]);
  });
});
