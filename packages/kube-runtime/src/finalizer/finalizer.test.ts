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
  const current = (): Promise<Stored<KubeObject> | undefined> => client.find(KEY);
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
  return { api, client, made, log, current, run };
}

describe("when the object is not being deleted", () => {
  test("adds the finalizer before apply runs, after existing finalizers", async () => {
    const fixture = await setUp([THEIRS]);
    expect(await fixture.run(fixture.made)).toBe("applied");
    expect(fixture.log).toEqual([`apply with ${THEIRS},${OURS}`]);
    expect((await fixture.current())?.metadata.finalizers).toEqual([THEIRS, OURS]);
  });

  test("writes nothing when the finalizer is present", async () => {
    const fixture = await setUp([OURS]);
    await fixture.run(fixture.made);
    expect(fixture.api.transport.sent.filter(({ method }) => method === "PATCH")).toEqual([]);
    expect(fixture.log).toHaveLength(1);
  });

  test("returns a conflict when the finalizers changed, and applies nothing", async () => {
    const fixture = await setUp();
    await fixture.client.patch(KEY, "merge", { metadata: { finalizers: [THEIRS] } });
    await expect(fixture.run(fixture.made)).rejects.toMatchObject({ kind: "conflict", retryable: true });
    expect(fixture.log).toEqual([]);
    expect((await fixture.current())?.metadata.finalizers).toEqual([THEIRS]);
  });

  test("does nothing when the object is deleted", async () => {
    const fixture = await setUp();
    await fixture.client.delete(KEY);
    expect(await fixture.run(fixture.made)).toBeUndefined();
    expect(fixture.log).toEqual([]);
  });
});

describe("when the object is being deleted", () => {
  const deleted = async (finalizers: readonly string[]) => {
    const fixture = await setUp(finalizers);
    await fixture.client.delete(KEY);
    return { ...fixture, dying: (await fixture.current())! };
  };

  test("removes only its own finalizer after cleanup", async () => {
    const fixture = await deleted([OURS, THEIRS]);
    expect(await fixture.run(fixture.dying)).toBeUndefined();
    expect((await fixture.current())?.metadata.finalizers).toEqual([THEIRS]);
  });

  test("removes the last finalizer after cleanup, which deletes the object", async () => {
    const fixture = await deleted([OURS]);
    await fixture.run(fixture.dying);
    expect(await fixture.current()).toBeUndefined();
    expect(await fixture.run(fixture.dying)).toBeUndefined();
    expect(fixture.log).toEqual(["clean up", "clean up"]);
  });

  test("keeps the finalizer until cleanup is done and returns the outcome of the step", async () => {
    const fixture = await deleted([OURS]);
    expect(await fixture.run(fixture.dying, "later")).toBe("later");
    expect((await fixture.current())?.metadata.finalizers).toEqual([OURS]);
  });

  test("does nothing without its own finalizer", async () => {
    const fixture = await deleted([THEIRS]);
    expect(await fixture.run(fixture.dying)).toBeUndefined();
    expect(fixture.log).toEqual([]);
  });

  test("returns a conflict when the finalizers changed, and repeats cleanup next time", async () => {
    const fixture = await deleted([OURS, THEIRS]);
    await fixture.client.patch(KEY, "merge", { metadata: { finalizers: [OURS] } });
    await expect(fixture.run(fixture.dying)).rejects.toMatchObject({ kind: "conflict" });
    expect((await fixture.current())?.metadata.finalizers).toEqual([OURS]);
  });
});
