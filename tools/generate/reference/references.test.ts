import path from "node:path";
import { describe, expect, test } from "vitest";
import { eventRows } from "./events.ts";
import { indexOf } from "./grpc-image.ts";
import { boundServices } from "./grpc.ts";
import { sentence, table } from "./markdown.ts";
import { declaredMetrics, metricsReference } from "./metrics.ts";
import { memberOf, nodesOf, textOf } from "./syntax.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");

describe("metrics", () => {
  const metrics = declaredMetrics(ROOT);

  test("are collected from their declarations with help, labels and file", () => {
    expect(metrics).toContainEqual({
      name: "crm_children_total",
      type: "counter",
      help: "Reconciled children, by kind and whether they were written.",
      labels: ["kind", "outcome"],
      file: "apps/class-runtime-manager/src/controller/class-manager.ts",
    });
    expect(new Set(metrics.map(({ name }) => name)).size).toBe(metrics.length);
  });

  test("rejects a metric in a folder that belongs to no program", () => {
    const stray = { name: "stray_total", type: "counter", help: "", labels: [], file: "packages/elsewhere/src/a.ts" };
    expect(() => metricsReference([...metrics, stray])).toThrow("no program for metrics stray_total");
  });
});

describe("events", () => {
  test("lists every reason that the manager's events use", () => {
    const file = path.join(ROOT, "apps/class-runtime-manager/src/lifecycle/status/emitted-events.ts");
    const used = nodesOf(file).flatMap((node) => textOf(memberOf(node, "reason")) ?? []);
    const listed = new Set(eventRows().map(([reason = ""]) => reason.replaceAll("`", "")));
    expect(used.length).toBeGreaterThan(8);
    expect(used.filter((reason) => !listed.has(reason))).toEqual([]);
  });
});

describe("gRPC", () => {
  test("reads the server of each service from the code", () => {
    const bound = boundServices(ROOT);
    expect(bound.get("DeploymentService")).toBe("class runtime manager");
    expect(bound.get("PackageService")).toBe("package manager (`GRPC_PORT`)");
    expect(bound.get("ServerReflection")).toBe("both");
    expect(bound.has("RuntimeService")).toBe(false);
  });

  test("finds the comments of messages, fields and nested types", () => {
    const location = (path: number[], leadingComments: string) => ({ path, leadingComments });
    const { messages, enums } = indexOf([
      {
        name: "a.proto",
        package: "a",
        messageType: [
          {
            name: "Outer",
            field: [{ name: "first", number: 1, type: "TYPE_STRING" }],
            nestedType: [{ name: "Inner" }],
            enumType: [{ name: "Word", value: [{ name: "NONE" }] }],
          },
        ],
        sourceCodeInfo: {
          location: [
            location([4, 0], " The outer\n one.\n"),
            location([4, 0, 2, 0], " Its field.\n"),
            location([4, 0, 3, 0], " The inner one.\n"),
            location([4, 0, 4, 0], " A word.\n"),
          ],
        },
      },
    ]);
    expect(messages.get("a.Outer")?.comment).toBe("The outer one.");
    expect(messages.get("a.Outer")?.commentOf("field", 0)).toBe("Its field.");
    expect(messages.get("a.Outer.Inner")?.comment).toBe("The inner one.");
    expect(enums.get("a.Outer.Word")?.comment).toBe("A word.");
  });
});

describe("Markdown", () => {
  test("escapes bars in cells and capitalizes sentences", () => {
    expect(table(["A"], [["a|b"]])).toBe("| A |\n| --- |\n| a\\|b |");
    expect(["a word", "Done.", ""].map(sentence)).toEqual(["A word.", "Done.", ""]);
  });
});
