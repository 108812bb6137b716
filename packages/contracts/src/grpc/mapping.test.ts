import { describe, expect, test } from "vitest";
import {
  ConsistencyModel,
  DeploymentCondition,
  EnforcementDimension,
  EnforcementMode,
  FunctionType,
  LifecyclePhase,
  RuntimePhase,
  StateShape,
} from "@oaas/models";
import * as common from "../gen/common_pb.ts";
import * as types from "../gen/deployment_types_pb.ts";
import * as runtime from "../gen/runtime_pb.ts";
import * as words from "./mapping.ts";

const UNSPECIFIED_IS_A_WORD = new Set(["condition", "phase"]);

/** Peers learn of `degraded` through `lifecycle_phase` and `serving`. */
const { degraded: _, ...KNOWN_TO_PEERS } = DeploymentCondition;

describe.each([
  {
    name: "condition",
    domain: KNOWN_TO_PEERS,
    wire: runtime.DeploymentConditionSchema,
    table: words.conditionWords,
  },
  { name: "phase", domain: RuntimePhase, wire: runtime.DeploymentPhaseSchema, table: words.phaseWords },
  { name: "lifecycle", domain: LifecyclePhase, wire: runtime.LifecyclePhaseSchema, table: words.lifecyclePhaseWords },
  { name: "consistency", domain: ConsistencyModel, wire: common.ConsistencyModelSchema, table: words.consistencyWords },
  { name: "shape", domain: StateShape, wire: types.StateShapeSchema, table: words.stateShapeWords },
  { name: "function type", domain: FunctionType, wire: types.FunctionTypeSchema, table: words.functionTypeWords },
  { name: "mode", domain: EnforcementMode, wire: types.EnforcementModeSchema, table: words.enforcementModeWords },
  {
    name: "dimension",
    domain: EnforcementDimension,
    wire: types.EnforcementDimensionSchema,
    table: words.enforcementDimensionWords,
  },
])("$name", ({ name, domain, wire, table }) => {
  const { toWire, fromWire } = table as words.EnumWords<string, number>;

  test("round-trips every value", () => {
    for (const word of Object.values(domain)) expect(fromWire(toWire(word))).toBe(word);
  });

  test("maps every wire value but 'unspecified'", () => {
    const wordless = wire.values.filter((value) => fromWire(value.number) === undefined).map((value) => value.number);
    expect(wordless).toEqual(UNSPECIFIED_IS_A_WORD.has(name) ? [] : [0]);
  });

  test("returns undefined for unknown values", () => {
    expect(fromWire(9_999)).toBeUndefined();
  });
});

describe("access modifiers", () => {
  test("are written as peers spell them and read case-insensitively", () => {
    expect(words.accessModifierToWire("internal")).toBe("Internal");
    expect(words.accessModifierFromWire("PRIVATE")).toBe("private");
    expect(words.accessModifierFromWire("toString")).toBeUndefined();
  });
});
