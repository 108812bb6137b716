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
  { why: "nothing said", spec: {}, want: [] },
  { why: "what there is", spec: { default_template: "prod", default_addons: ["ODGM"], default: true }, want: [] },
  {
    why: "what there is not, each by its field",
    spec: { default_template: "gpu", default_addons: ["odgm", "teapot"] },
    want: [/^\$\.default_template unknown template "gpu".*use one of dev, /, /^\$\.default_addons\[1\] .*teapot/],
  },
  {
    why: "a second default",
    spec: { default: true },
    others: "older",
    want: [/^\$\.default "older" is already the default environment/],
  },
  { why: "another default, and this one is none", spec: {}, others: "older", want: [] },
])("$why", ({ spec, others, want }) => {
  const found = checkEnvironment("prod", specOf(spec), {
    templates: BUILTIN_TEMPLATES,
    defaultName: others ?? "prod",
  }).map(({ path, message, fix }) => `${path} ${message} ${fix ?? ""}`);
  expect(found).toEqual(want.map((pattern) => expect.stringMatching(pattern) as string));
});
