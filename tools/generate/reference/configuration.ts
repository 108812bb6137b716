import { configReference } from "@oaas/config";
import { crmConfig } from "../../../apps/class-runtime-manager/src/config.ts";
import { devStackConfig } from "../../../apps/dev-stack/src/config.ts";
import { pmConfig } from "../../../apps/package-manager/src/config.ts";
import type { Generator } from "../generator.ts";

/** The reference page of all settings. */
export const generator: Generator = {
  name: "configuration",
  produce: async () =>
    new Map([["docs/reference/configuration.md", configReference([devStackConfig, pmConfig, crmConfig])]]),
};
