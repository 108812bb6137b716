import type { KubeObject } from "@oaas/kube-core";
import { contains } from "../../src/controller/children/apply-children.ts";
import type { ControllerFixture } from "./controller-fixture.ts";

/** A GitOps controller with self-healing, as Argo CD with server-side apply. */
export interface SelfHealer {
  /** How often live objects differed from Git, without the first apply. */
  readonly heals: number;
  stop(): Promise<void>;
}

export const SELF_HEALER = "argocd-controller";

/** Applies the objects of Git by force whenever a field of theirs differs. */
export function startSelfHealer(fixture: ControllerFixture, namespace: string, git: readonly KubeObject[]): SelfHealer {
  const stop = new AbortController();
  const healer = { heals: 0, stop: async () => (stop.abort(), await done) };
  const apply = (object: KubeObject): Promise<string> =>
    fixture.kubectl(
      `apply -n ${namespace} --server-side --force-conflicts --field-manager=${SELF_HEALER} -f -`,
      JSON.stringify(object),
    );
  const isInSync = async (object: KubeObject): Promise<boolean> => {
    const live = await fixture.get(namespace, object.kind, object.metadata.name ?? "");
    return live !== undefined && contains(live, object);
  };
  const done = (async () => {
    for (const object of git) await apply(object);
    while (!stop.signal.aborted) {
      for (const object of git) {
        if (await isInSync(object)) continue;
        healer.heals += 1;
        await apply(object);
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  })();
  return healer;
}
