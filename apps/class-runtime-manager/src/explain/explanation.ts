import type { ObjectRef } from "@oaas/kube-core";
import type { Verdict } from "../lifecycle/observation/reasons.ts";

/** What a part of an explanation is about, from the whole to the detail. */
export type ExplanationLevel = "class" | "function" | "odgm" | "workload" | "pod" | "node" | "event";

/** Whether waiting helps, where there is something to wait for. */
export type ExplanationVerdict = "healthy" | Verdict;

/** One thing that was looked at, with what explains it below. */
export interface ExplanationPart {
  readonly level: ExplanationLevel;
  /** Class key, function key, or object name. */
  readonly name: string;
  /** The Kubernetes object; absent for what is not one. */
  readonly resource?: ObjectRef;
  readonly verdict: ExplanationVerdict;
  /** From the one list of reasons; that of Kubernetes for an event; empty when healthy. */
  readonly reason: string;
  readonly message: string;
  /** What to do next; empty when there is nothing to do. */
  readonly action: string;
  readonly since?: string;
  readonly count?: number;
  readonly causes: readonly ExplanationPart[];
}

/** Which template was taken, by which rule, and how the others fared. */
export interface TemplateExplanation {
  readonly chosen: string;
  readonly rule: "explicit" | "hint" | "environment" | "score";
  readonly requested?: string;
  /** Best first. */
  readonly candidates: readonly { readonly name: string; readonly score: number; readonly because?: string }[];
  readonly wouldChange: string;
}

/** Why a class is as it is. */
export interface Explanation {
  readonly deploymentId: string;
  /** One sentence that names the deepest cause. */
  readonly summary: string;
  readonly verdict: ExplanationVerdict;
  readonly action: string;
  readonly root: ExplanationPart;
  readonly template?: TemplateExplanation;
  readonly observedAt: string;
}
