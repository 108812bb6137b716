import type { CollectionDefinition } from "@oaas/storage";
import type { FreezeWindows } from "../records/freeze-window.ts";

/** The id of the only record. */
export const ALL_FREEZE_WINDOWS = "all";

export const FREEZE_WINDOWS = {
  name: "freeze-windows",
  codec: { version: 1, decode: freezeWindows },
} satisfies CollectionDefinition<FreezeWindows>;

function freezeWindows(json: unknown): FreezeWindows {
  const record = json as Partial<FreezeWindows> | null;
  if (!Array.isArray(record?.windows)) throw new TypeError("not a record of freeze windows");
  return record as FreezeWindows;
}
