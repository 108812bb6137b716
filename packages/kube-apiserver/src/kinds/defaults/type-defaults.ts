import type { JsonObject } from "@oaas/kube-core";
import { adminDefaults } from "./admin-defaults.ts";
import { appsDefaults } from "./apps-defaults.ts";
import { coreDefaults } from "./core-defaults.ts";
import { podDefaults } from "./pod-defaults.ts";

/** Fills in what an object of a type lacks; never changes what is there. */
export type Defaulter = (object: JsonObject) => JsonObject;

/** What Go's code fills in, by the OpenAPI name of the type and wherever the type stands; holders come before what they hold. */
export const TYPE_DEFAULTS: Readonly<Record<string, Defaulter>> = {
  ...podDefaults,
  ...coreDefaults,
  ...appsDefaults,
  ...adminDefaults,
};
