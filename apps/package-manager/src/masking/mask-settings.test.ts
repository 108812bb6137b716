import { packageFromWire } from "@oaas/contracts/rest";
import type { Package } from "@oaas/models";
import { expect, test } from "vitest";
import { maskedInPackage, maskPackage } from "./mask-settings.ts";

function packageWith(secret: string): Package {
  const read = packageFromWire({
    name: "shop",
    classes: [{ key: "Echo", function_bindings: [{ name: "echo", function_key: "echo", access_modifier: "PUBLIC" }] }],
    functions: [
      { key: "plain", provision_config: { container_image: "i:1" }, config: { REGION: "eu" } },
      { key: "echo", provision_config: { container_image: "i:1" }, config: { REGION: "eu", API_KEY: secret } },
    ],
    deployments: [
      {
        key: "d",
        class_key: "Echo",
        functions: [{ function_key: "echo", config: { DB_PASSWORD: secret } }],
        telemetry: { resource_attributes: { team: "a", "auth.token": secret } },
      },
    ],
  });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

const PLACES = [
  "$.functions[1].config.API_KEY",
  "$.deployments[0].functions[0].config.DB_PASSWORD",
  "$.deployments[0].telemetry.resource_attributes['auth.token']",
];

test("masks every secret setting of a package and nothing else; the mask is not accepted as a value", () => {
  const definition = packageWith("hunter2");
  const masked = maskPackage(definition);
  expect(masked).toEqual(packageWith("***"));
  expect(masked.functions[0], "without secrets").toBe(definition.functions[0]);
  expect(maskedInPackage(definition)).toEqual([]);
  expect(maskedInPackage(masked).map(({ path }) => path)).toEqual(PLACES);
});

test("returns a package without secrets itself", () => {
  const definition = { ...packageWith(""), functions: [], deployments: [] };
  expect(maskPackage(definition)).toBe(definition);
});
