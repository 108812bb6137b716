import type { CollectionDefinition } from "@oaas/storage";
import type { SagaRecord } from "./saga.ts";

/** The newest saga of each subject, by subject. */
export const SAGAS = {
  name: "sagas",
  codec: { version: 1, decode: sagaRecord },
} satisfies CollectionDefinition<SagaRecord>;

function sagaRecord(json: unknown): SagaRecord {
  const record = json as Partial<SagaRecord> | null;
  if (typeof record?.id !== "string" || typeof record.owner !== "string" || !Array.isArray(record.steps)) {
    throw new TypeError("it is no saga");
  }
  return record as SagaRecord;
}
