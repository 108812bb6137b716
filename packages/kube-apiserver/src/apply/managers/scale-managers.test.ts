import { describe, expect, it } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import { memberElement } from "../fields/path-element.ts";
import { copyManagersToScale, copyManagersFromScale, type ScaledKind } from "./scale-managers.ts";

const PATH = ["spec", "replicas"].map(memberElement);
const KIND: ScaledKind = {
  apiVersion: "apps/v1",
  replicas: new Map([
    ["apps/v1", PATH],
    ["apps/v0", undefined],
  ]),
};
const REPLICAS = { "f:spec": { "f:replicas": {} } };

function entry(manager: string, fieldsV1: JsonObject, others: JsonObject = {}): JsonObject {
  return {
    manager,
    operation: "Update",
    apiVersion: "apps/v1",
    time: "t",
    fieldsType: "FieldsV1",
    fieldsV1,
    ...others,
  };
}

function object(...managedFields: readonly JsonObject[]): JsonObject {
  return { metadata: { name: "a", managedFields } };
}

function managersOf(of: JsonObject): readonly JsonObject[] {
  return ((of["metadata"] as JsonObject)["managedFields"] ?? []) as readonly JsonObject[];
}

describe("ownership of spec.replicas", () => {
  it("appears in a Scale under its version, without other fields", () => {
    const owner = entry("one", { "f:spec": { "f:replicas": {}, "f:paused": {} } });
    const scale = copyManagersToScale(object(owner, entry("two", { "f:spec": { "f:paused": {} } })), object(), KIND);
    expect(managersOf(scale)).toEqual([{ ...entry("one", REPLICAS), apiVersion: "autoscaling/v1" }]);
  });

  it("goes to the writer of the Scale, without a time; other managers keep the rest", () => {
    const before = object(entry("one", { "f:spec": { "f:replicas": {}, "f:paused": {} } }));
    const scaler = { ...entry("two", REPLICAS, { subresource: "scale" }), apiVersion: "autoscaling/v1" };
    const { time: _time, ...untimed } = entry("two", REPLICAS, { subresource: "scale" });
    expect(managersOf(copyManagersFromScale(before, object(scaler), KIND))).toEqual([
      untimed,
      entry("one", { "f:spec": { "f:paused": {} } }),
    ]);
  });

  it("is separate under the version of Scale, so a manager appears twice", () => {
    const before = object(entry("one", { "f:spec": { "f:replicas": {}, "f:paused": {} } }));
    const after = copyManagersFromScale(before, copyManagersToScale(before, object(), KIND), KIND);
    expect(managersOf(after).map((one) => [one["manager"], one["time"]])).toEqual([
      ["one", undefined],
      ["one", "t"],
    ]);
  });

  it("stays with the applier, who is the same manager in every version", () => {
    const before = object(entry("one", REPLICAS, { operation: "Apply" }));
    expect(copyManagersFromScale(before, copyManagersToScale(before, object(), KIND), KIND)).toEqual(before);
  });

  it("drops managers of unknown versions, and keeps those without scale", () => {
    const before = object(
      entry("known", { "f:spec": { "f:x": {} } }, { apiVersion: "apps/v0" }),
      entry("unknown", { "f:spec": { "f:x": {} } }, { apiVersion: "apps/v9" }),
    );
    expect(managersOf(copyManagersFromScale(before, object(), KIND)).map(({ manager }) => manager)).toEqual(["known"]);
  });
});
