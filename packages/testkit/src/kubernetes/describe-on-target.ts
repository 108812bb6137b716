import { describeWith, skipWithReason, type Needed } from "../describe-with.ts";
import { kubeTarget, type KubeTarget } from "./kube-target.ts";

export interface TargetSuite {
  /** Components needed with either API server, such as kubectl. */
  readonly needs?: readonly Needed[];
  /** Why the suite is skipped on the embedded API server, in one sentence. */
  readonly realOnly?: string;
}

const REAL: readonly Needed[] = ["kubernetes", "kwok"];

/** A suite for both API servers that uses `startKubeTarget`; it needs real components only on the real one. */
export function describeOnTarget(
  title: string,
  { needs = [], realOnly }: TargetSuite,
  body: () => void,
  target: KubeTarget = kubeTarget(),
): void {
  const where = `${title} [${target}]`;
  if (target === "real") describeWith([...REAL, ...needs], where, body);
  else if (realOnly === undefined) describeWith(needs, where, body);
  else skipWithReason(where, realOnly, body);
}
