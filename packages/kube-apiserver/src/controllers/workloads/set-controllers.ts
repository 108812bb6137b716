import type { Controller, WatchedKind } from "../loop/controller.ts";
import { createDecision, SETTLED } from "../loop/decision.ts";
import { watchOwn } from "../loop/controller.ts";
import { typed } from "../objects/cluster-view.ts";
import {
  CLAIMS,
  DAEMON_SETS,
  JOBS,
  nameOfKey,
  NODES,
  keyOf,
  PODS,
  REVISIONS,
  STATEFUL_SETS,
  type Resource,
} from "../objects/resources.ts";
import type { ControllerRevision, DaemonSet, Job, Node, Pod, StatefulSet } from "../objects/typed.ts";
import { Adoption, ownerKeys } from "./adoption.ts";
import { decideDaemonSet } from "./daemon-set.ts";
import { decideJob } from "./jobs/job.ts";
import { decideStatefulSet } from "./stateful-set.ts";

const WRITER = "kube-controller-manager";

export function statefulSetController(): Controller {
  const adoption = new Adoption(STATEFUL_SETS, PODS);
  return {
    name: "stateful-sets",
    reporter: "statefulset-controller",
    writer: WRITER,
    watches: [watchOwn(STATEFUL_SETS), adoption.follow(), listOwned(STATEFUL_SETS, REVISIONS)],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const set = view.get<StatefulSet>(STATEFUL_SETS, namespace, name);
      if (!set) return SETTLED;
      const adopted = adoption.steps(set, view);
      if (adopted.length > 0) return createDecision(adopted);
      return decideStatefulSet({
        set,
        pods: view.controlled<Pod>(set, PODS),
        revisions: view.controlled<ControllerRevision>(set, REVISIONS),
        hasClaim: (claim) => view.get(CLAIMS, namespace, claim) !== undefined,
        now,
      });
    },
  };
}

export function daemonSetController(): Controller {
  const adoption = new Adoption(DAEMON_SETS, PODS);
  return {
    name: "daemon-sets",
    reporter: "daemonset-controller",
    writer: WRITER,
    watches: [
      watchOwn(DAEMON_SETS),
      adoption.follow(),
      listOwned(DAEMON_SETS, REVISIONS),
      {
        kind: NODES,
        isSecondary: true,
        keys: (_, view) => view.list<DaemonSet>(DAEMON_SETS).map(keyOf),
      },
    ],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const set = view.get<DaemonSet>(DAEMON_SETS, namespace, name);
      if (!set) return SETTLED;
      const adopted = adoption.steps(set, view);
      if (adopted.length > 0) return createDecision(adopted);
      return decideDaemonSet({
        set,
        pods: view.controlled<Pod>(set, PODS),
        nodes: view.list<Node>(NODES),
        revisions: view.controlled<ControllerRevision>(set, REVISIONS),
        now,
      });
    },
  };
}

export function jobController(): Controller {
  return {
    name: "jobs",
    reporter: "job-controller",
    writer: WRITER,
    watches: [watchOwn(JOBS), listOwned(JOBS, PODS)],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const job = view.get<Job>(JOBS, namespace, name);
      return job ? decideJob({ job, pods: view.controlled<Pod>(job, PODS), now }) : SETTLED;
    },
  };
}

function listOwned(owner: Resource, kind: Resource): WatchedKind {
  return { kind, isSecondary: true, keys: (object, view) => ownerKeys(typed(object), owner, view) };
}
