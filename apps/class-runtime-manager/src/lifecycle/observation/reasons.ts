/** Whether waiting helps: `transient` resolves by itself, `permanent` requires action. */
export type Verdict = "transient" | "permanent";

interface ReasonEntry {
  /** `fault` degrades the class; `wait` is a normal step; `calm` is a healthy state. */
  readonly effect: "fault" | "wait" | "calm";
  /** Default verdict; a finding may override it. */
  readonly verdict: Verdict;
  /** What the user should do; empty when nothing. */
  readonly action: string;
  /** The reason rejects the spec itself, so that its generation counts as observed. */
  readonly judgesSpec?: true;
}

/**
 * All reasons of conditions, functions and findings. The order is the rank: if several apply, the first is reported,
 * since it is closest to the cause.
 */
export const REASONS = {
  InvalidSpec: {
    effect: "fault",
    verdict: "permanent",
    action: "Correct the fields that the message names.",
    judgesSpec: true,
  },
  EnvironmentMissing: {
    effect: "fault",
    verdict: "permanent",
    action: "Create the EnvironmentConfig that the message names, or set target_environment to an existing one.",
    judgesSpec: true,
  },
  EnvironmentInvalid: {
    effect: "fault",
    verdict: "permanent",
    action: "Correct the fields of the EnvironmentConfig that the message names.",
    judgesSpec: true,
  },
  TemplateMissing: {
    effect: "fault",
    verdict: "permanent",
    action: "Use one of the known templates, or create the missing one.",
    judgesSpec: true,
  },
  OdgmDisabled: {
    effect: "fault",
    verdict: "permanent",
    action: "Enable ODGM in this cluster, or remove odgm from the addons of the class.",
    judgesSpec: true,
  },
  ApplyInvalid: {
    effect: "fault",
    verdict: "permanent",
    action: "Correct the field of the class that the rejected field is rendered from.",
    judgesSpec: true,
  },
  KindMissing: {
    effect: "fault",
    verdict: "permanent",
    action: "Install the API that serves this kind, or choose another template.",
  },
  NamespaceTerminating: {
    effect: "fault",
    verdict: "permanent",
    action: "Deploy to another namespace; this one is being deleted.",
  },
  NameTaken: {
    effect: "fault",
    verdict: "permanent",
    action: "Rename or delete the object of that name that does not belong to this class.",
  },
  Conflict: {
    effect: "fault",
    verdict: "permanent",
    action: "Make the other field manager release the field, or stop it from writing the field.",
  },
  Forbidden: {
    effect: "fault",
    verdict: "permanent",
    action: "Grant the service account of the class runtime manager the permission that the message names.",
  },
  ReferenceMissing: {
    effect: "fault",
    verdict: "permanent",
    action: "Create the objects that the message names in the namespace of the class, or correct their names.",
  },
  Quota: {
    effect: "fault",
    verdict: "permanent",
    action: "Raise the quota that the message names, or lower the replicas or resource requests of the class.",
  },
  AdmissionDenied: {
    effect: "fault",
    verdict: "permanent",
    action: "Correct the fields that the admission policy rejects, or change the policy.",
  },
  NodeLost: {
    effect: "fault",
    verdict: "transient",
    action: "Wait until the pod restarts on another node; repair or remove the lost node.",
  },
  ImagePull: {
    effect: "fault",
    verdict: "permanent",
    action: "Check the name and tag of the image, and that the cluster can pull from its registry.",
  },
  OutOfMemory: {
    effect: "fault",
    verdict: "permanent",
    action: "Raise memory_limit of the function, or reduce its memory use.",
  },
  CrashLoop: {
    effect: "fault",
    verdict: "permanent",
    action: "Read the last log of the container (kubectl logs --previous) and fix the function or its config.",
  },
  ContainerConfig: {
    effect: "fault",
    verdict: "permanent",
    action: "Create the ConfigMap or Secret that the message names, or correct the container settings.",
  },
  VolumeMount: {
    effect: "fault",
    verdict: "transient",
    action: "Check that the volume exists and is not attached elsewhere.",
  },
  PodSandbox: {
    effect: "fault",
    verdict: "transient",
    action: "Check the container runtime and the network plugin of the node.",
  },
  Evicted: {
    effect: "fault",
    verdict: "transient",
    action: "Wait for the replacement pod; add capacity to the node, or raise the resource requests of the function.",
  },
  Unschedulable: {
    effect: "fault",
    verdict: "permanent",
    action: "Add suitable nodes, or change the requests, node selector or tolerations that the message names.",
  },
  JobFailed: {
    effect: "fault",
    verdict: "permanent",
    action: "Read the log of the last pod of the job, fix the function, then change the class to run it again.",
  },
  KnativeFailed: {
    effect: "fault",
    verdict: "permanent",
    action: "Inspect the revision of the Knative Service and fix the problem in its message.",
  },
  ScalerFailed: {
    effect: "fault",
    verdict: "permanent",
    action: "Correct the triggers of the ScaledObject in the template, or install the add-on that its message names.",
  },
  ShardMissing: {
    effect: "fault",
    verdict: "transient",
    action:
      "Wait: the class runtime manager restarts the node unless that loses objects; see odgm_cluster_status.restart.",
  },
  NoQuorum: {
    effect: "fault",
    verdict: "transient",
    action:
      "Start the missing nodes of the state store, and check that its nodes and routers reach each other (docs/guides/troubleshooting.md).",
  },
  StoreUnreachable: {
    effect: "fault",
    verdict: "transient",
    action:
      "Let the class runtime manager reach port 8080 of the pods of the state store, or set its OPRC_CRM_ODGM_HEALTH=false.",
  },
  ProgressDeadline: {
    effect: "fault",
    verdict: "permanent",
    action: "Check why the pods do not become ready: logs, readiness probe, dependencies.",
  },
  RestartRefused: {
    effect: "wait",
    verdict: "permanent",
    action: "Copy the objects with oaas state copy, or set odgm.allow_restart to restart the state store without them.",
  },
  OdgmUnhealthy: {
    effect: "fault",
    verdict: "transient",
    action: "Read the log of the ODGM pods: ODGM responds, but does not serve all shards.",
  },
  RollOutHalted: {
    effect: "fault",
    verdict: "permanent",
    action: "Fix the template, or the class that failed with the new revision.",
  },
  DeletionBlocked: {
    effect: "fault",
    verdict: "permanent",
    action: "Wait for the owner of the finalizer, or remove the finalizer from the object that the message names.",
  },
  ApiUnavailable: {
    effect: "wait",
    verdict: "transient",
    action: "Wait; the class runtime manager retries.",
  },
  InternalFault: {
    effect: "fault",
    verdict: "permanent",
    action: "Find the error in the log of the class runtime manager and report it.",
  },
  Replacing: {
    effect: "wait",
    verdict: "transient",
    action: "Wait until the object of the same name is deleted.",
  },
  Deleting: { effect: "wait", verdict: "transient", action: "" },
  ChildMissing: { effect: "wait", verdict: "transient", action: "Wait; the class runtime manager creates it." },
  ScaleUpTriggered: { effect: "wait", verdict: "transient", action: "Wait for the new node." },
  SchedulingGated: {
    effect: "wait",
    verdict: "transient",
    action: "Wait until the scheduling gate of the pod is removed.",
  },
  OdgmSettling: { effect: "wait", verdict: "transient", action: "Wait until the state store serves its shards." },
  Paused: { effect: "wait", verdict: "permanent", action: "Resume the rollout (kubectl rollout resume)." },
  RollingOut: { effect: "wait", verdict: "transient", action: "Wait until the rollout is complete." },
  Scaling: { effect: "wait", verdict: "transient", action: "Wait until all replicas are ready." },
  Starting: { effect: "wait", verdict: "transient", action: "Wait until the pods are ready." },
  ProbeFailing: {
    effect: "wait",
    verdict: "transient",
    action: "Wait; if it persists, read the log of the container.",
  },
  PodStarting: { effect: "wait", verdict: "transient", action: "Wait until the containers have started." },
  WaitingForOdgm: { effect: "wait", verdict: "transient", action: "Wait until the state store is ready." },
  Pending: { effect: "wait", verdict: "transient", action: "Wait for the first reconcile." },
  NotChecked: {
    effect: "calm",
    verdict: "permanent",
    action: "Set OPRC_CRM_ODGM_HEALTH=true of the class runtime manager to check that state can be written.",
  },
  Ready: { effect: "calm", verdict: "transient", action: "" },
  ScaledToZero: { effect: "calm", verdict: "transient", action: "" },
  Serving: { effect: "calm", verdict: "transient", action: "" },
  NoFault: { effect: "calm", verdict: "transient", action: "" },
  TelemetryEnabled: { effect: "calm", verdict: "transient", action: "" },
  TelemetryDisabled: { effect: "calm", verdict: "transient", action: "" },
  MonitorsCreated: { effect: "calm", verdict: "transient", action: "" },
  MissingCRDs: {
    effect: "calm",
    verdict: "permanent",
    action:
      "Install the CRDs of the Prometheus operator, or let Prometheus scrape by annotations (docs/guides/collect-metrics.md).",
  },
  FeatureDisabled: {
    effect: "calm",
    verdict: "permanent",
    action:
      "Set OPRC_CRM_FEATURES_PROMETHEUS=true and OPRC_CRM_PROM_URL of the class runtime manager, or enforcement mode observe.",
  },
  ObjectsWouldBeLost: {
    effect: "calm",
    verdict: "permanent",
    action:
      "Restore the settings that the message names, copy the objects to another deployment first, or set odgm_config.allow_layout_change to lose them.",
  },
  NoEndpoint: {
    effect: "calm",
    verdict: "permanent",
    action: "Set OPRC_CRM_OTEL_ENDPOINT of the class runtime manager, or disable telemetry of the class.",
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>;

/** A reason of the list. */
export type Reason = keyof typeof REASONS;

const RANKS = new Map(Object.keys(REASONS).map((reason, index) => [reason, index]));

/** Position in the list; lower is closer to the cause. */
export function rankOf(reason: Reason): number {
  return RANKS.get(reason) ?? RANKS.size;
}

/** Whether the reason degrades a class. */
export function isFaultReason(reason: Reason): boolean {
  return REASONS[reason].effect === "fault";
}

/** The same for a stored reason, which another version may have written. */
export function isFaultText(reason: string): boolean {
  return Object.hasOwn(REASONS, reason) && isFaultReason(reason as Reason);
}

/** Whether the reason rejects the spec itself, which a retry cannot change. */
export function marksGenerationObserved(reason: Reason): boolean {
  const entry: ReasonEntry = REASONS[reason];
  return entry.judgesSpec === true;
}
