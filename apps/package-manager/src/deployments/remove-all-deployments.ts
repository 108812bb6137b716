import type { PackageName } from "@oaas/models";
import { retryOnConflict } from "../concurrency.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import { isOpen } from "../saga-engine/saga.ts";
import { restoreFault } from "../saga-engine/stored-fault.ts";
import type { SagaReference } from "../saga-engine/waiters.ts";
import { cascadeSaga, cascadeSubject } from "../sagas/remove-package-cascade.ts";
import type { Call } from "../use-cases.ts";

export interface RemoveAllDeps {
  readonly engine: Pick<SagaEngine, "commit" | "get" | "stage" | "wait">;
  readonly waitMs: number;
}

/** Deletes all deployments of a package, then the package; joins a removal that is running. */
export async function removeAllDeployments(
  { engine, waitMs }: RemoveAllDeps,
  name: PackageName,
  call: Call,
): Promise<"deleted" | "accepted"> {
  const saga = await retryOnConflict(async (): Promise<SagaReference> => {
    const current = await engine.get(cascadeSubject(name));
    if (current !== undefined && isOpen(current.record)) {
      const { subject, id } = current.record;
      return { subject, id, revision: current.revision };
    }
    const { sagas } = await engine.commit([await engine.stage(current, cascadeSaga(name, call))]);
    return sagas[0] as SagaReference;
  });
  const result = await engine.wait(saga, { timeoutMs: waitMs });
  if (result.state !== "ended") return result.state === "gone" ? "deleted" : "accepted";
  const failed = result.saga.steps.find(({ fault }) => fault !== undefined);
  if (failed?.fault !== undefined) throw restoreFault(failed.fault);
  return "deleted";
}
