import { readFileSync } from "node:fs";
import { toJson } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { baselineText, breakingChanges, grownBaseline, parseBaseline } from "./baseline.ts";
import { snapshotOf, type DescriptorSnapshot, type FileJson } from "./snapshot.ts";
import { FILE_DESCRIPTORS } from "./descriptors.ts";

const storedText = readFileSync(new URL("../../../baseline/descriptors.json", import.meta.url), "utf8");
const stored = parseBaseline(storedText);
const current = snapshotOf(FILE_DESCRIPTORS.map((file) => toJson(FileDescriptorProtoSchema, file.proto) as FileJson));

type Draft = { [S in keyof DescriptorSnapshot]: Record<string, Record<string, string>> };

/** A deep copy with one change. */
function altered(snapshot: DescriptorSnapshot, change: (draft: Draft) => void): DescriptorSnapshot {
  const draft: Draft = structuredClone(snapshot);
  change(draft);
  return draft;
}

/** The entries of a type that must be there. */
function entries(section: Record<string, Record<string, string>>, type: string): Record<string, string> {
  const found = section[type];
  if (found === undefined) throw new Error(`${type} is not in the snapshot`);
  return found;
}

describe("the stored baseline", () => {
  test("matches the generated code", () => {
    expect(breakingChanges(stored, current).map((change) => change.explanation)).toEqual([]);
  });

  test("contains every entry of the generated code", () => {
    expect(baselineText(current)).toBe(storedText);
  });
});

describe("a breaking change", () => {
  const unit = "oaas.deployment.DeploymentUnit";
  const service = "oaas.deployment.DeploymentService";
  test.each([
    {
      why: "a renumbered field is another field to a peer",
      change: (draft: Draft) => {
        const { 6: line = "", ...rest } = entries(draft.messages, unit);
        draft.messages[unit] = { ...rest, 60: line };
      },
      says: `${unit}: field 6 (string target_env) was renumbered to 60`,
    },
    {
      why: "JSON and reflection use the name",
      change: (draft: Draft) => (entries(draft.messages, unit)[6] = "string target_cluster"),
      says: `${unit}: field 6 was "string target_env" and is "string target_cluster"`,
    },
    {
      why: "another type is another wire form",
      change: (draft: Draft) => (entries(draft.messages, unit)[1] = "uint64 id"),
      says: `${unit}: field 1 was "string id" and is "uint64 id"`,
    },
    {
      why: "without presence, absent and empty become one",
      change: (draft: Draft) => (entries(draft.messages, unit)[11] = "string selected_template"),
      says: `${unit}: field 11 was "optional string selected_template" and is "string selected_template"`,
    },
    {
      why: "a removed field's number could be taken again",
      change: (draft: Draft) => delete entries(draft.messages, unit)[12],
      says: `${unit}: field 12 (optional oaas.common.TelemetrySpec telemetry) was removed`,
    },
    {
      why: "a reserved number held something else once",
      change: (draft: Draft) => (entries(draft.messages, unit)[4] = "string target_cluster"),
      says: `${unit}: field 4 was "reserved" and is "string target_cluster"`,
    },
    {
      why: "a removed message breaks its peers",
      change: (draft: Draft) => delete draft.messages["oaas.runtime.RouterEndpoint"],
      says: "oaas.runtime.RouterEndpoint was removed",
    },
    {
      why: "an enum value keeps its number",
      change: (draft: Draft) => (entries(draft.enums, "oaas.common.StatusCode")[2] = "MISSING"),
      says: 'oaas.common.StatusCode: value 2 was "NOT_FOUND" and is "MISSING"',
    },
    {
      why: "a method's path is an address",
      change: (draft: Draft) => delete entries(draft.services, service)["Deploy"],
      says: `${service}: method Deploy (oaas.deployment.DeployRequest -> oaas.deployment.DeployResponse) was removed`,
    },
    {
      why: "unary and stream differ on the wire",
      change: (draft: Draft) => {
        const health = entries(draft.services, "oaas.health.HealthService");
        health["Watch"] = "oaas.health.HealthCheckRequest -> oaas.health.HealthCheckResponse";
      },
      says: 'oaas.health.HealthService: method Watch was "oaas.health.HealthCheckRequest -> stream oaas.health.HealthCheckResponse" and is "oaas.health.HealthCheckRequest -> oaas.health.HealthCheckResponse"',
    },
  ])("is reported and rejected: $why", ({ change, says }) => {
    const broken = altered(stored, change);
    expect(breakingChanges(stored, broken).map(({ explanation }) => explanation)).toEqual([says]);
    expect(() => grownBaseline(stored, broken)).toThrow(says);
  });

  test("is rejected even together with an addition", () => {
    const both = altered(stored, (draft) => {
      delete draft.messages["oaas.common.Timestamp"];
      draft.messages["oaas.common.New"] = { 1: "string name" };
    });
    expect(() => grownBaseline(stored, both)).toThrow("oaas.common.Timestamp was removed");
  });
});

test("additions only add lines to the baseline", () => {
  const more = altered(stored, (draft) => {
    entries(draft.messages, "oaas.common.Timestamp")[100] = "string zone";
    draft.messages["oaas.common.New"] = { 1: "string name" };
    entries(draft.enums, "oaas.common.StatusCode")[100] = "LATER";
    entries(draft.services, "oaas.deployment.DeploymentService")["Pause"] = "a.B -> a.C";
  });
  const before = storedText.split("\n").map((line) => line.replace(/,$/, ""));
  const after = new Set(
    baselineText(grownBaseline(stored, more))
      .split("\n")
      .map((line) => line.replace(/,$/, "")),
  );
  expect(before.filter((line) => !after.has(line))).toEqual([]);
  expect([...after]).toEqual(expect.arrayContaining(['      "100": "string zone"', '      "100": "LATER"']));
});

test("rejects a baseline without a section", () => {
  expect(() => parseBaseline('{"messages":{}}')).toThrow("restore it from version control");
});
