import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import { persistentCollections } from "./collections.ts";

/** Settings that promise durable objects where the state store keeps them in memory. */
export function persistenceProblems(input: RenderInput): readonly Violation[] {
  const { cluster, environment } = input;
  if (cluster.odgm.keepsObjectsOnVolumes === true) return [];
  return persistentCollections(input).map(({ index, source }) => {
    const declare = "let the operator declare a persistent state store (OPRC_CRM_ODGM_PERSISTENCE=true)";
    switch (source) {
      case "state":
        return {
          path: pathOf(ROOT_PATH, "state_spec", "persistent"),
          message: "this state store keeps objects in memory",
          fix: `set it to false and use several copies, or ${declare}`,
        };
      case "collection":
        return {
          path: pathOf(ROOT_PATH, "odgm_config", "collections", index, "persistence_mode"),
          message: "this state store keeps objects in memory",
          fix: `remove it and use several copies, or ${declare}`,
        };
      case "environment":
        return {
          path: pathOf(ROOT_PATH, "target_environment"),
          message: `environment ${environment?.name ?? ""} makes collections persistent, but this state store keeps objects in memory`,
          fix: `remove persistence_mode from its odgm.collection_templates, or ${declare}`,
        };
    }
  });
}
