import { environmentConfig, type EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { expect, test } from "vitest";
import { checkEnvironment } from "./check-environment.ts";
import { BUILTIN_TEMPLATES } from "../builtin/registry.ts";

const specOf = (spec: object): EnvironmentConfigSpec =>
  environmentConfig.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "EnvironmentConfig",
    metadata: { name: "prod" },
    spec: { kind: "cloud", ...spec },
  }).spec;

test.each([
  { case: "nothing stated", spec: {}, want: [] },
  {
    case: "known template and addon",
    spec: { default_template: "prod", default_addons: ["ODGM"], default: true },
    want: [],
  },
  {
    case: "unknown template and addon, each with its field",
    spec: { default_template: "gpu", default_addons: ["odgm", "teapot"] },
    want: [/^\$\.default_template unknown template "gpu".*use one of dev, /, /^\$\.default_addons\[1\] .*teapot/],
  },
  {
    case: "a second default",
    spec: { default: true },
    others: "older",
    want: [/^\$\.default "older" is already the default environment/],
  },
  { case: "another environment is the default", spec: {}, others: "older", want: [] },
])("$case", ({ spec, others, want }) => {
  const found = checkEnvironment("prod", specOf(spec), {
    templates: BUILTIN_TEMPLATES,
    defaultName: others ?? "prod",
  }).map(({ path, message, fix }) => `${path} ${message} ${fix ?? ""}`);
  expect(found).toEqual(want.map((pattern) => expect.stringMatching(pattern) as string));
});
