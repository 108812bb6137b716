import type { Controller } from "../loop/controller.ts";
import { SETTLED, createDecision } from "../loop/decision.ts";
import { watchOwn } from "../loop/controller.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { isFinished } from "../objects/pods.ts";
import { DEPLOYMENTS, nameOfKey, PODS, REPLICA_SETS } from "../objects/resources.ts";
import type { Deployment, Pod, ReplicaSet } from "../objects/typed.ts";
import { Adoption, ownerKeys } from "./adoption.ts";
import { decideDeployment, handleCreateError, type DeploymentState } from "./deployments/deployment.ts";
import { decideReplicaSet, handleReplicaSetError, type ReplicaSetState } from "./replica-set.ts";

export function replicaSetController(): Controller {
  const adoption = new Adoption(REPLICA_SETS, PODS);
  const stateOf = (key: string, view: ClusterView, now: number): ReplicaSetState | undefined => {
    const { namespace, name } = nameOfKey(key);
    const replicaSet = view.get<ReplicaSet>(REPLICA_SETS, namespace, name);
    return replicaSet && { replicaSet, pods: view.controlled<Pod>(replicaSet, PODS), now };
  };
  return {
    name: "replica-sets",
    reporter: "replicaset-controller",
    writer: "kube-controller-manager",
    watches: [watchOwn(REPLICA_SETS), adoption.follow()],
    decide(key, { view, now }) {
      const state = stateOf(key, view, now);
      if (!state) return SETTLED;
      const adopted = adoption.steps(state.replicaSet, view);
      return adopted.length > 0 ? createDecision(adopted) : decideReplicaSet(state);
    },
    afterError(key, { step, status }, { view, now }) {
      const state = stateOf(key, view, now);
      const isAboutPods = (step.do === "create" || step.do === "delete") && step.kind.resource === "pods";
      return state && isAboutPods ? handleReplicaSetError(state, step.do, status) : SETTLED;
    },
  };
}

export function deploymentController(): Controller {
  const adoption = new Adoption(DEPLOYMENTS, REPLICA_SETS);
  const stateOf = (key: string, view: ClusterView, now: number): DeploymentState | undefined => {
    const { namespace, name } = nameOfKey(key);
    const deployment = view.get<Deployment>(DEPLOYMENTS, namespace, name);
    return (
      deployment && {
        deployment,
        replicaSets: view.controlled<ReplicaSet>(deployment, REPLICA_SETS),
        hasPods: (sets) => sets.some((set) => view.controlled<Pod>(set, PODS).some((pod) => !isFinished(pod))),
        now,
      }
    );
  };
  return {
    name: "deployments",
    reporter: "deployment-controller",
    writer: "kube-controller-manager",
    watches: [
      watchOwn(DEPLOYMENTS),
      adoption.follow(),
      // Recreate waits for the last old pod to be gone, which its set's status may have reported before.
      {
        kind: PODS,
        isSecondary: true,
        keys: (object, view, change) => (change?.object === undefined ? deploymentOf(typed(object), view) : []),
      },
    ],
    decide(key, { view, now }) {
      const state = stateOf(key, view, now);
      if (!state) return SETTLED;
      const adopted = adoption.steps(state.deployment, view);
      return adopted.length > 0 ? createDecision(adopted) : decideDeployment(state);
    },
    afterError(key, { step, status }, { view, now }) {
      const state = stateOf(key, view, now);
      if (!state || step.do !== "create") return SETTLED;
      return handleCreateError(state, typed<ReplicaSet>(step.object).metadata.name, status);
    },
  };
}

function deploymentOf(pod: Pod, view: ClusterView): string[] {
  return ownerKeys(pod, REPLICA_SETS, view).flatMap((key) => {
    const { namespace, name } = nameOfKey(key);
    const set = view.get<ReplicaSet>(REPLICA_SETS, namespace, name);
    return set ? ownerKeys(set, DEPLOYMENTS, view) : [];
  });
}
