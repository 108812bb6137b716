import type { CollectionDefinition } from "@oaas/storage";
import type { Cordon } from "../ports.ts";

/** By cluster name. */
export const CORDONS = {
  name: "cordons",
  codec: { version: 1, decode: cordonRecord },
} satisfies CollectionDefinition<Cordon>;

function cordonRecord(json: unknown): Cordon {
  const record = json as Partial<Cordon> | null;
  if (typeof record?.by !== "string" || typeof record.at !== "string") throw new TypeError("not a cordon record");
  return record as Cordon;
}
