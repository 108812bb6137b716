import { readFileSync } from "node:fs";
import { LuaFactory } from "wasmoon";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { scenarioStatuses } from "./testing/scenario-statuses.ts";

const file = (name: string): string =>
  readFileSync(new URL(`../../../../deploy/gitops/${name}`, import.meta.url), "utf8");

interface Judged {
  readonly metadata: { readonly generation: number; readonly deletionTimestamp?: string };
  readonly status?: {
    readonly observedGeneration?: number | undefined;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined;
  };
}

/** The rules of kstatus for custom resources. */
function kstatus({ metadata, status = {} }: Judged): "Terminating" | "InProgress" | "Failed" | "Current" {
  const { observedGeneration, conditions = [] } = status;
  const is = (type: string, value: string): boolean =>
    conditions.some((one) => one.type === type && one.status === value);
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  if (observedGeneration !== undefined && observedGeneration !== metadata.generation) return "InProgress";
  if (is("Reconciling", "True")) return "InProgress";
  if (is("Stalled", "True")) return "Failed";
  return conditions.some(({ type }) => type === "Ready") && !is("Ready", "True") ? "InProgress" : "Current";
}

const ARGO = { Terminating: "Progressing", InProgress: "Progressing", Failed: "Degraded", Current: "Healthy" } as const;

const recorded = scenarioStatuses();

describe("conditions of a class by the rules of kstatus, in every recorded scenario", () => {
  test("cover every result", () => {
    expect(new Set(recorded.map(kstatus))).toEqual(new Set(["Terminating", "InProgress", "Failed", "Current"]));
  });

  test.each(recorded)("$name", (one) => {
    const { phase, conditions = [], observedGeneration } = one.status;
    const isObserved = observedGeneration === one.metadata.generation;
    const is = (type: string): string | undefined => conditions.find((each) => each.type === type)?.status;
    expect(is("Ready")).toBeDefined();
    expect([undefined, "True"]).toContain(is("Reconciling"));
    expect([undefined, "True"]).toContain(is("Stalled"));
    expect(is("Reconciling") !== undefined && is("Stalled") !== undefined).toBe(false);
    if (phase === "deleting") expect(kstatus(one)).toBe("Terminating");
    else expect(kstatus(one) === "Current").toBe(phase === "available" && isObserved);
    if (is("Stalled") === "True") expect(is("Progressing")).toBe("False");
    if (is("Reconciling") === "True") expect(is("Progressing")).toBe("True");
  });
});

describe("health check of Argo CD in Lua", () => {
  const factory = new LuaFactory();
  /** As in Argo CD, every object has an engine of its own. */
  const health = async (object: unknown): Promise<{ readonly status: string; readonly message: string }> => {
    const lua = await factory.createEngine();
    try {
      lua.global.set("obj", JSON.parse(JSON.stringify(object)));
      return (await lua.doString(file("argocd/health.lua"))) as { status: string; message: string };
    } finally {
      lua.global.close();
    }
  };

  test.each(recorded)("agrees with kstatus: $name", async (one) => {
    const { status, message } = await health(one);
    expect(status).toBe(ARGO[kstatus(one)]);
    expect(message).not.toBe("");
  });

  const condition = (type: string, status: string) => ({ type, status, message: `${type} is ${status}` });
  const object = (conditions: readonly unknown[] | undefined, observedGeneration: number | undefined = 1) => ({
    metadata: { generation: 1 },
    status: { conditions, observedGeneration },
  });

  test.each([
    { why: "no status", given: { metadata: { generation: 1 } }, status: "Progressing" },
    { why: "no conditions", given: object(undefined), status: "Progressing" },
    { why: "outdated", given: object([condition("Ready", "True")], 0), status: "Progressing" },
    { why: "an invalid template", given: object([condition("Ready", "False")]), status: "Degraded" },
    { why: "a valid template", given: object([condition("Ready", "True")]), status: "Healthy" },
    { why: "only conditions of others", given: object([condition("Strange", "True")]), status: "Progressing" },
    { why: "unknown", given: object([condition("Ready", "Unknown")]), status: "Progressing" },
  ])("$why", async ({ given, status }) => {
    expect((await health(given)).status).toBe(status);
  });

  test("argocd-cm.yaml contains the same script for every kind", () => {
    const { data } = parse(file("argocd/argocd-cm.yaml")) as { readonly data: Readonly<Record<string, string>> };
    const kinds = ["ClassRuntime", "DeploymentRecord", "DeploymentTemplate", "EnvironmentConfig"];
    expect(Object.keys(data)).toEqual(kinds.map((kind) => `resource.customizations.health.oaas.io_${kind}`));
    for (const script of Object.values(data)) expect(script).toBe(file("argocd/health.lua"));
  });
});
