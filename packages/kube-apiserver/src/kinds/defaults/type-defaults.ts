import type { JsonObject } from "@oaas/kube-core";
import { adminDefaults } from "./admin-defaults.ts";
import { appsDefaults } from "./apps-defaults.ts";
import { coreDefaults } from "./core-defaults.ts";
import { podDefaults } from "./pod-defaults.ts";

/** Fills in missing fields of a type; never changes existing ones. */
export type Defaulter = (object: JsonObject) => JsonObject;

/** Defaults of Go code by OpenAPI type name, outer types before inner ones. */
export const TYPE_DEFAULTS: Readonly<Record<string, Defaulter>> = {
  ...podDefaults,
  ...coreDefaults,
  ...appsDefaults,
  ...adminDefaults,
};
