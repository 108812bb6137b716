import type { ObjectRef } from "@oaas/kube-core";
import type { Verdict } from "../lifecycle/observation/reasons.ts";

/** Kind of a part, from class to event. */
export type ExplanationLevel = "class" | "function" | "odgm" | "workload" | "pod" | "node" | "event";

/** Whether waiting helps; `healthy` if nothing is wrong. */
export type ExplanationVerdict = "healthy" | Verdict;

/** A part of the explanation, with its causes. */
export interface ExplanationPart {
  readonly level: ExplanationLevel;
  /** Class key, function key, or object name. */
  readonly name: string;
  /** The Kubernetes object, if there is one. */
  readonly resource?: ObjectRef;
  readonly verdict: ExplanationVerdict;
  /** A reason of the reference; the Kubernetes reason for an event; empty when healthy. */
  readonly reason: string;
  readonly message: string;
  /** What the user should do; empty when nothing. */
  readonly action: string;
  readonly since?: string;
  readonly count?: number;
  readonly causes: readonly ExplanationPart[];
}

/** The selected template, the rule, and the scores of all candidates. */
export interface TemplateExplanation {
  readonly chosen: string;
  readonly rule: "explicit" | "hint" | "environment" | "score";
  readonly requested?: string;
  /** Best first. */
  readonly candidates: readonly { readonly name: string; readonly score: number; readonly because?: string }[];
  readonly wouldChange: string;
}

/** Explains the state of a class. */
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
