import { backoffDelay, internal, sleep, type Ambient } from "@oaas/foundation";
import type { DeploymentKey, PackageName } from "@oaas/models";
import { BACKOFF } from "../backoff-policies.ts";
import type { NewSaga } from "../saga-engine/saga.ts";
import type { SagaKind } from "../saga-engine/kind.ts";
import type { Call } from "../use-cases.ts";

const REMOVE_PACKAGE_CASCADE = "remove-package-cascade";

export interface CascadeDeps {
  readonly ambient: Ambient;
  /** Keys of the remaining deployments of a package, those being deleted included. */
  readonly keysOf: (name: PackageName) => Promise<readonly DeploymentKey[]>;
  /** Commits the deletion of a deployment; a no-op when it is being deleted or does not exist. */
  readonly removeDeployment: (key: DeploymentKey, call: Call) => Promise<void>;
  /** Removes a package without deployments; a no-op when it does not exist. */
  readonly forgetPackage: (name: PackageName) => Promise<void>;
}

interface CascadeData {
  readonly name: PackageName;
  readonly call: Omit<Call, "signal">;
}

export function cascadeSubject(name: PackageName): string {
  return `package/${name}`;
}

/** The saga that deletes a package and its deployments. */
export function cascadeSaga(name: PackageName, { signal: _signal, ...call }: Call): NewSaga {
  return {
    kind: REMOVE_PACKAGE_CASCADE,
    subject: cascadeSubject(name),
    steps: [
      { id: "deployments", action: "deployments", target: name, stage: 0 },
      { id: "package", action: "package", target: name, stage: 1 },
    ],
    parallel: 1,
    onFailure: "stop",
    data: { name, call } satisfies CascadeData,
  };
}

/** Deletes all deployments of a package, waits for the last one however long it takes, then deletes the package. */
export function removePackageCascade(deps: CascadeDeps): SagaKind {
  return {
    name: REMOVE_PACKAGE_CASCADE,
    open: async (saga) => {
      const { name, call } = saga.data as CascadeData;
      const removeAll = async (): Promise<number> => {
        const keys = await deps.keysOf(name);
        for (const key of keys) await deps.removeDeployment(key, call);
        return keys.length;
      };
      return {
        perform: async ({ action }) => {
          if (action === "package") await deps.forgetPackage(name);
          else await removeAll();
          return action === "package" ? "removed" : "all deployments are deleted or being deleted";
        },
        confirm: async ({ action }, { signal }) => {
          if (action === "package") return;
          for (let attempt = 0; (await removeAll()) > 0; attempt += 1) {
            await sleep(
              deps.ambient.timers,
              backoffDelay(BACKOFF.packageCascade, attempt, deps.ambient.random),
              signal,
            );
          }
        },
        undo: async () => {
          throw internal("the removal of a package cannot be undone");
        },
        finish: async (_, outcome) => ({ transaction: { writes: [] }, forget: outcome === "succeeded" }),
      };
    },
  };
}
