import { describeWith, skipLoudly, type Needed } from "../describe-with.ts";
import { kubeTarget, type KubeTarget } from "./kube-target.ts";

export interface TargetSuite {
  /** What it needs on either API server, such as kubectl. */
  readonly needs?: readonly Needed[];
  /** Why it says nothing on the embedded API server, in one sentence; it is left out there, loudly, with this reason. */
  readonly realOnly?: string;
}

/** What a real cluster is made of. */
const REAL: readonly Needed[] = ["kubernetes", "kwok"];

/** A suite written for both API servers: it starts its cluster by `startKubeTarget`, and needs the real components only on the real one. */
export function describeOnTarget(
  title: string,
  { needs = [], realOnly }: TargetSuite,
  body: () => void,
  target: KubeTarget = kubeTarget(),
): void {
  const where = `${title} [${target}]`;
  if (target === "real") describeWith([...REAL, ...needs], where, body);
  else if (realOnly === undefined) describeWith(needs, where, body);
  else skipLoudly(where, realOnly, body);
}
