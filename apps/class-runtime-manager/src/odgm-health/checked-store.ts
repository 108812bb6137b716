import type { ObjectKey } from "@oaas/kube-core";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import type { Pod } from "../lifecycle/observation/observed-objects.ts";
import type { RunningStore } from "../state-store/running-store.ts";

/** A class whose state store is checked. */
export interface CheckedStore {
  readonly uid: string;
  readonly key: ObjectKey;
  /** Id of the reserved object that a check writes; the same for all clusters of a deployment. */
  readonly objectId: string;
  /** Changes when a node starts or ends, so that the store is checked at once. */
  readonly fingerprint: string;
  /** The store as it runs; undefined when it cannot be read. */
  read(): RunningStore | undefined;
  /** The last reading in the status. */
  readonly lastReading: OdgmReading | undefined;
}

/** Identifies the containers that run. */
export function podsFingerprint(pods: readonly Pod[]): string {
  return pods
    .map(({ metadata, status }) => {
      const starts = status?.containerStatuses?.map(({ state }) => state?.running?.startedAt ?? "") ?? [];
      return [metadata.uid, metadata.deletionTimestamp ?? "", ...starts].join(" ");
    })
    .toSorted()
    .join("\n");
}
