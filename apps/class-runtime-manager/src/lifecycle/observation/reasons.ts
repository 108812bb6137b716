/** Whether waiting helps: `transient` is expected to mend itself, `permanent` needs someone to change something. */
export type Verdict = "transient" | "permanent";

interface ReasonEntry {
  /** `fault` degrades the class; `wait` is a normal step on the way; `calm` says that all is well. */
  readonly effect: "fault" | "wait" | "calm";
  /** The usual verdict; the looker may know better in one case. */
  readonly verdict: Verdict;
  /** What to do next, for people; empty when there is nothing to do. */
  readonly action: string;
  /** A judgement on the spec itself: the pass has seen this generation, although it refused it. */
  readonly settles?: true;
}

/**
 * Every reason that a condition, a function or a finding may give; nobody else spells one. Order is rank: where several
 * hold, the first is told, because it is nearest to the cause.
 */
export const REASONS = {
  InvalidSpec: {
    effect: "fault",
    verdict: "permanent",
    action: "Correct the fields that the message names.",
    settles: true,
  },
  TemplateMissing: {
    effect: "fault",
    verdict: "permanent",
    action: "Name one of the known templates, or install the missing one.",
    settles: true,
  },
  OdgmDisabled: {
    effect: "fault",
    verdict: "permanent",
    action: "Switch ODGM on in this cluster, or take odgm out of the class's addons.",
    settles: true,
  },
  ApplyInvalid: {
    effect: "fault",
    verdict: "permanent",
    action: "Correct the field of the class from which the refused one is made.",
    settles: true,
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
    action: "Rename or delete the object that has the name and does not belong to this class.",
  },
  Conflict: {
    effect: "fault",
    verdict: "permanent",
    action: "Let the other manager give up the field, or stop it from writing there.",
  },
  Forbidden: {
    effect: "fault",
    verdict: "permanent",
    action: "Give the manager's service account the permission that the message names.",
  },
  Quota: {
    effect: "fault",
    verdict: "permanent",
    action: "Raise the quota that the message names, or lower the replicas or requests of the class.",
  },
  AdmissionDenied: {
    effect: "fault",
    verdict: "permanent",
    action: "Change what the admission policy objects to, or the policy.",
  },
  NodeLost: {
    effect: "fault",
    verdict: "transient",
    action: "Wait until the pod is started on another node; bring the node back or remove it.",
  },
  ImagePull: {
    effect: "fault",
    verdict: "permanent",
    action: "Check the image's name and tag, and that the cluster may pull from its registry.",
  },
  OutOfMemory: {
    effect: "fault",
    verdict: "permanent",
    action: "Raise the function's memory_limit, or make it use less.",
  },
  CrashLoop: {
    effect: "fault",
    verdict: "permanent",
    action: "Read the container's last log (kubectl logs --previous) and mend the function or its config.",
  },
  ContainerConfig: {
    effect: "fault",
    verdict: "permanent",
    action: "Create the ConfigMap or Secret that the message names, or correct the container's settings.",
  },
  VolumeMount: {
    effect: "fault",
    verdict: "transient",
    action: "Check that the volume exists and is free to be attached.",
  },
  PodSandbox: {
    effect: "fault",
    verdict: "transient",
    action: "Check the node's container runtime and network plugin.",
  },
  Evicted: {
    effect: "fault",
    verdict: "transient",
    action: "Wait for the replacement; give the node more room, or the function a larger request.",
  },
  Unschedulable: {
    effect: "fault",
    verdict: "permanent",
    action: "Add nodes that fit, or lower the requests, node selector or tolerations that the message names.",
  },
  JobFailed: {
    effect: "fault",
    verdict: "permanent",
    action: "Read the log of the job's last pod and mend the function, then change the class to run it again.",
  },
  KnativeFailed: {
    effect: "fault",
    verdict: "permanent",
    action: "Look at the Knative Service's revision and mend what its message says.",
  },
  ProgressDeadline: {
    effect: "fault",
    verdict: "permanent",
    action: "Find out why the pods do not become ready: their log, their readiness probe, their dependencies.",
  },
  OdgmUnhealthy: {
    effect: "fault",
    verdict: "transient",
    action: "Look at the log of the ODGM pods; it answers, but not for all its shards.",
  },
  RollOutHalted: {
    effect: "fault",
    verdict: "permanent",
    action: "Mend the template, or the class that failed with its new revision.",
  },
  DeletionBlocked: {
    effect: "fault",
    verdict: "permanent",
    action: "Let the owner of the finalizer finish, or remove it from the object that the message names.",
  },
  ApiUnavailable: {
    effect: "wait",
    verdict: "transient",
    action: "Wait; the manager tries again by itself.",
  },
  InternalFault: {
    effect: "fault",
    verdict: "permanent",
    action: "Look in the manager's log for the fault, and report it.",
  },
  Replacing: {
    effect: "wait",
    verdict: "transient",
    action: "Wait until the object that holds the name is gone.",
  },
  Deleting: { effect: "wait", verdict: "transient", action: "" },
  ChildMissing: { effect: "wait", verdict: "transient", action: "Wait; the manager makes it again." },
  ScaleUpTriggered: { effect: "wait", verdict: "transient", action: "Wait for the new node." },
  SchedulingGated: {
    effect: "wait",
    verdict: "transient",
    action: "Wait until whoever gated the pod's scheduling removes the gate.",
  },
  Paused: { effect: "wait", verdict: "permanent", action: "Resume the roll-out (kubectl rollout resume)." },
  RollingOut: { effect: "wait", verdict: "transient", action: "Wait until the roll-out is complete." },
  Scaling: { effect: "wait", verdict: "transient", action: "Wait until all replicas are ready." },
  Starting: { effect: "wait", verdict: "transient", action: "Wait until its pods are ready." },
  OdgmSettling: { effect: "wait", verdict: "transient", action: "Wait until the store has taken up its shards." },
  ProbeFailing: { effect: "wait", verdict: "transient", action: "Wait; if it lasts, read the container's log." },
  PodStarting: { effect: "wait", verdict: "transient", action: "Wait until its containers have started." },
  WaitingForOdgm: { effect: "wait", verdict: "transient", action: "Wait until the state store is ready." },
  Pending: { effect: "wait", verdict: "transient", action: "Wait; the manager has not begun yet." },
  Ready: { effect: "calm", verdict: "transient", action: "" },
  Serving: { effect: "calm", verdict: "transient", action: "" },
  NoFault: { effect: "calm", verdict: "transient", action: "" },
  TelemetryEnabled: { effect: "calm", verdict: "transient", action: "" },
  TelemetryDisabled: { effect: "calm", verdict: "transient", action: "" },
  NoEndpoint: {
    effect: "calm",
    verdict: "permanent",
    action: "Give the manager an OpenTelemetry endpoint, or switch the class's telemetry off.",
  },
} as const satisfies Readonly<Record<string, ReasonEntry>>;

/** One word of the list. */
export type Reason = keyof typeof REASONS;

const RANKS = new Map(Object.keys(REASONS).map((reason, index) => [reason, index]));

/** Where the reason stands in the list; lower is nearer to the cause. */
export function rankOf(reason: Reason): number {
  return RANKS.get(reason) ?? RANKS.size;
}

/** Whether the reason degrades a class. */
export function isFaultReason(reason: Reason): boolean {
  return REASONS[reason].effect === "fault";
}

/** Whether the reason is a judgement on the spec, which trying again does not change. */
export function settlesGeneration(reason: Reason): boolean {
  const entry: ReasonEntry = REASONS[reason];
  return entry.settles === true;
}
