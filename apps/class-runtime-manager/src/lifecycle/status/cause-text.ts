import type { ObjectRef } from "@oaas/kube-core";
import type { Cause } from "../diagnosis/assess.ts";

/** Longest sentence of a function's status; conditions take more, but nobody reads more. */
const LONGEST = 2_000;

/** A text that fits every message of the status. */
export function fitting(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** One sentence that names component, object and cause. */
export function causeText({ met, component, finding }: Cause, subject: ObjectRef): string {
  const { kind, name } = finding.object;
  const isSubject = kind === subject.kind && name === subject.name;
  const where = component === undefined ? "" : `${componentText(component)}: `;
  // What Kubernetes answered is a sentence of its own; what we saw goes on from its subject.
  const what = isSubject ? "" : `${kind} ${name}${met === "pass" ? ":" : ""} `;
  const text = `${where}${what}${finding.message}`;
  return fitting(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

/** How people call the component. */
export function componentText({ name, role }: NonNullable<Cause["component"]>): string {
  return role === "odgm" ? "State store" : `Function ${name}`;
}

/** "1 function", "3 functions". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
