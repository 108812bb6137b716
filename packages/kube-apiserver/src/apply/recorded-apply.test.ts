import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import recorded from "../../testdata/recorded/server-side-apply.json" with { type: "json" };
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { answerOf, comparable, OneObjectServer, type WriteStep } from "../../test/writes/one-object-server.ts";

interface Scenario {
  readonly why: string;
  readonly steps: readonly (WriteStep & { readonly answer: JsonObject })[];
}

const schema = recorded.schema as unknown as StructuralSchema;
const scenarios = recorded.scenarios as unknown as readonly Scenario[];

describe("matches recorded server responses", () => {
  test.each(scenarios)("$why", ({ steps }) => {
    const server = new OneObjectServer(schema);
    for (const { answer, ...step } of steps) {
      const actual = comparable(answerOf(server.write(step)));
      expect({ step, answer: actual }).toEqual({ step, answer: comparable(answer) });
    }
  });
});
