import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { KINDS } from "./kinds.ts";
import {
  classRuntimeSample,
  environmentSample,
  README_SAMPLE,
  fullRecord,
  templateSample,
  UPSTREAM_CLASS_RUNTIME,
} from "./testing/samples.ts";
import { WRONG_OBJECTS } from "./testing/wrong-objects.ts";
import { deploymentRecord, environmentConfig, classRuntime } from "./index.ts";

const schemaOf = (kind: string) => KINDS.find((definition) => definition.kind === kind)!.schema;

/** `spec.functions[0].config.A`, as the API server prints paths; keys of maps that it puts in brackets are members here. */
function printed(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .slice(1);
}

describe("valid objects", () => {
  test.each([
    ["the sample of the original README", parse(README_SAMPLE)],
    ["every field of the design documents", fullRecord],
    ["a small class runtime", classRuntimeSample],
    ["a template", templateSample],
    ["an environment", environmentSample],
    ["upstream's class runtime, nulls and all", JSON.parse(UPSTREAM_CLASS_RUNTIME)],
  ] as [string, { kind: string }][])("%s", (_, object) => {
    expect(schemaOf(object.kind).safeParse(object).error).toBeUndefined();
  });

  test("normalizes enum values in several spellings", () => {
    const { spec } = deploymentRecord.parse(fullRecord);
    expect(spec.odgm_config?.collections?.[0]).toMatchObject({
      persistence_mode: "persistent",
      access_patterns: ["read_write", "batch_read"],
    });
    expect(spec.odgm_config?.event_processing?.event_triggers?.[0]?.trigger_type).toBe("state_change");
    expect(
      classRuntime.parse({
        ...classRuntimeSample,
        spec: { ...classRuntimeSample.spec, nfr_requirements: { consistency: "STRONG" } },
      }).spec.nfr_requirements,
    ).toEqual({ consistency: "strong" });
  });

  test("fills an environment with the defaults of the design documents", () => {
    const { spec } = environmentConfig.parse({ ...environmentSample, spec: { kind: "dev" } });
    expect(spec.odgm).toEqual({
      partition_strategies: { low_throughput: 1, standard: 4, high_throughput: 8, very_high: 16 },
      container_resources: {
        odgm: { requests: { cpu: "200m", memory: "512Mi" }, limits: { cpu: "1000m", memory: "1Gi" } },
        function: { requests: { cpu: "100m", memory: "256Mi" }, limits: { cpu: "500m", memory: "512Mi" } },
      },
      health_checks: {
        odgm: { initial_delay_seconds: 30, period_seconds: 10, timeout_seconds: 5, failure_threshold: 3 },
        function: { initial_delay_seconds: 10, period_seconds: 5, timeout_seconds: 3, failure_threshold: 3 },
      },
      storage: { size: "1Gi" },
    });
  });
});

describe("invalid objects are rejected by our code with the field's name", () => {
  test.each(WRONG_OBJECTS.filter((row) => row.only !== "server"))("$why", ({ object, field }) => {
    const issues =
      schemaOf((object as { kind: string }).kind).safeParse(JSON.parse(JSON.stringify(object))).error?.issues ?? [];
    const paths = issues.flatMap((issue) => [
      printed(issue.path),
      // What a union's branches complain about lies below the union.
      ...(issue.code === "invalid_union"
        ? issue.errors.flat().map((inner) => printed([...issue.path, ...inner.path]))
        : []),
    ]);
    expect(paths).toContain(field.replaceAll(/\[([a-z]+)\]/g, ".$1"));
  });
});
