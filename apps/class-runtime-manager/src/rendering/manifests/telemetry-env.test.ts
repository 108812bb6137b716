import { expect, test } from "vitest";
import { containerFunction, inputOf } from "../testing/inputs.ts";
import { telemetryEnv, telemetryState } from "./telemetry-env.ts";

const ENDPOINT = "http://otel:4317";
const functions = [containerFunction("a")];

function envOf(
  telemetry?: object,
  cluster: { enabled: boolean; endpoint?: string } = { enabled: false, endpoint: ENDPOINT },
) {
  const spec = { functions, ...(telemetry === undefined ? {} : { telemetry }) };
  return telemetryEnv(inputOf({ spec, cluster: { telemetry: cluster } }), "order");
}

test.each([
  { case: "off in class and cluster", env: envOf(), want: {} },
  {
    case: "the class takes precedence over the cluster",
    env: envOf({ enabled: false }, { enabled: true, endpoint: ENDPOINT }),
    want: {},
  },
  { case: "no endpoint", env: envOf({ enabled: true }, { enabled: true }), want: {} },
  {
    case: "a telemetry block without enabled means enabled",
    env: envOf({}),
    want: {
      OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT,
      OTEL_SERVICE_NAME: "order",
      OTEL_TRACES_ENABLED: "true",
      OTEL_METRICS_ENABLED: "true",
      OTEL_LOGS_ENABLED: "false",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.1",
    },
  },
])("$case", ({ env, want }) => {
  expect(env).toEqual(want);
});

test("omits the sampler at rate 1; sorts and encodes attributes", () => {
  const env = envOf({ sampling_rate: 1, resource_attributes: { b: "x=y,z", a: "50% of it" } });
  expect(env).not.toHaveProperty("OTEL_TRACES_SAMPLER");
  expect(env["OTEL_RESOURCE_ATTRIBUTES"]).toBe("a=50%25%20of%20it,b=x%3Dy%2Cz");
});

test.each([
  { case: "off", cluster: { enabled: false, endpoint: ENDPOINT }, want: undefined },
  { case: "enabled without an endpoint", cluster: { enabled: true }, want: "no-endpoint" },
  { case: "enabled with an empty endpoint", cluster: { enabled: true, endpoint: "" }, want: "no-endpoint" },
  { case: "enabled with an endpoint", cluster: { enabled: true, endpoint: ENDPOINT }, want: "configured" },
])("state of telemetry: $case", ({ cluster, want }) => {
  expect(telemetryState(inputOf({ spec: { functions }, cluster: { telemetry: cluster } }))).toBe(want);
});
