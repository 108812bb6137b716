import type { Stored } from "@oaas/kube-core";
import { create, createDecision, update, type Decision } from "../loop/decision.ts";
import { conditionIn, type Claim } from "../objects/conditions.ts";
import { DEPLOYMENTS, KNATIVE_REVISIONS, SERVICES } from "../objects/resources.ts";
import type { Deployment, Pod } from "../objects/typed.ts";
import {
  createChildMetadata,
  isTrue,
  LABELS,
  setReady,
  statusDecision,
  type KnativeRevision,
  type KnativeStatus,
} from "./knative-objects.ts";

export interface RevisionState {
  readonly revision: Stored<KnativeRevision>;
  readonly deployment: Stored<Deployment> | undefined;
  readonly hasService: boolean;
  readonly pods: readonly Pod[];
  /** Whether it receives traffic, or will as soon as it is ready. */
  readonly isRouted: boolean;
  readonly now: number;
}

/** A revision is a Deployment with as many pods as its scale; without traffic it has none. */
export function decideRevision(state: RevisionState): Decision {
  const { revision, deployment, hasService, isRouted } = state;
  const { name } = revision.metadata;
  const labels = {
    ...revision.metadata.labels,
    app: name,
    [LABELS.revision]: name,
    [LABELS.revisionUid]: revision.metadata.uid,
  };
  if (!deployment) return createDecision([create(DEPLOYMENTS, createDeployment(revision, labels))]);
  const replicas = isRouted ? getScale(revision) : 0;
  if ((deployment.spec.replicas ?? 1) !== replicas)
    return createDecision([update(DEPLOYMENTS, { ...deployment, spec: { ...deployment.spec, replicas } })]);
  if (!hasService) {
    const spec = {
      selector: { [LABELS.revisionUid]: revision.metadata.uid },
      ports: [{ name: "http", port: 80, targetPort: getPort(revision) }],
    };
    return createDecision([create(SERVICES, createChildMetadata(revision, SERVICES, name, labels, { spec }))]);
  }
  return statusDecision(KNATIVE_REVISIONS, revision, computeRevisionStatus(state, deployment, replicas));
}

function getPort({ spec }: KnativeRevision): number {
  return spec?.containers?.[0]?.ports?.[0]?.containerPort ?? 8080;
}

/** No request ever arrives, so the first pod is kept without one. The first spelling takes precedence. */
function getScale({ metadata }: KnativeRevision): number {
  const [stated = "0"] = ["min-scale", "minScale"].flatMap(
    (key) => metadata.annotations?.[`autoscaling.knative.dev/${key}`] ?? [],
  );
  const value = Number(stated);
  return Number.isInteger(value) ? Math.max(1, value) : 1;
}

function createDeployment(revision: Stored<KnativeRevision>, labels: Readonly<Record<string, string>>): object {
  const { containerConcurrency: _, timeoutSeconds: __, containers = [], ...spec } = revision.spec ?? {};
  const { annotations } = revision.metadata;
  const withNames = containers.map((container, index) => ({
    ...container,
    name:
      container.name === "" || container.name === undefined
        ? `user-container${index === 0 ? "" : `-${index}`}`
        : container.name,
  }));
  return createChildMetadata(revision, DEPLOYMENTS, `${revision.metadata.name}-deployment`, labels, {
    spec: {
      replicas: getScale(revision),
      selector: { matchLabels: { [LABELS.revisionUid]: revision.metadata.uid } },
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "25%" } },
      template: {
        metadata: { labels, ...(annotations === undefined ? {} : { annotations }) },
        spec: { ...spec, containers: withNames },
      },
    },
  });
}

function computeRevisionStatus(
  { revision, pods, isRouted, now }: RevisionState,
  deployment: Deployment,
  replicas: number,
): KnativeStatus {
  const { readyReplicas = 0 } = deployment.status ?? {};
  const problems = findProblems(pods, deployment);
  const wasReady = isTrue(revision.status, "Ready");
  const isUp = readyReplicas >= replicas && replicas > 0;
  const deploying = { status: "Unknown", reason: "Deploying" } as const;
  const up =
    isUp || (wasReady && !problems.containers && !problems.resources) ? ({ status: "True" } as const) : deploying;
  const idle = {
    type: "Active",
    status: "False",
    reason: "NoTraffic",
    message: "The target is not receiving traffic.",
  } as const;
  const claims: readonly Claim[] = [
    isRouted ? { type: "Active", ...up } : idle,
    { type: "ContainerHealthy", ...(problems.containers ?? up) },
    { type: "ResourcesAvailable", ...(problems.resources ?? up) },
  ];
  return {
    observedGeneration: revision.metadata.generation ?? 1,
    actualReplicas: readyReplicas,
    desiredReplicas: replicas,
    conditions: setReady(revision.status, claims, now, ["Active"]),
  };
}

interface PodProblems {
  readonly containers?: Omit<Claim, "type">;
  readonly resources?: Omit<Claim, "type">;
}

/** Exited containers are unhealthy at once; start failures count after the deployment's deadline. */
function findProblems(pods: readonly Pod[], deployment: Deployment): PodProblems {
  if ((deployment.status?.readyReplicas ?? 0) > 0) return {};
  const isLate = conditionIn(deployment.status?.conditions, "Progressing")?.reason === "ProgressDeadlineExceeded";
  const failure = conditionIn(deployment.status?.conditions, "ReplicaFailure");
  if (failure?.status === "True")
    return { resources: { status: "False", reason: failure.reason ?? "", message: failure.message ?? "" } };
  for (const { state, lastState } of pods.flatMap(({ status }) => status?.containerStatuses ?? [])) {
    const ended = state.terminated ?? lastState.terminated;
    if (ended && ended.exitCode !== 0) {
      const message = `Container failed with: ${ended.message ?? ended.reason ?? ""}`;
      return { containers: { status: "False", reason: `ExitCode${ended.exitCode}`, message } };
    }
    const { reason = "", message = "" } = state.waiting ?? {};
    if (isLate && state.waiting) return { resources: { status: "False", reason, message } };
  }
  if (!isLate) return {};
  const message = "Initial scale was never achieved";
  return { resources: { status: "False", reason: "ProgressDeadlineExceeded", message } };
}
