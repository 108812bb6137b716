import type { ObjectRef } from "@oaas/kube-core";
import type { Cause } from "../diagnosis/assess.ts";

/** Longest sentence of a function's status; conditions take more, but nobody reads more. */
const MAX_LENGTH = 2_000;

/** A text that fits every message of the status. */
export function truncateMessage(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
}

/** One sentence that names component, object and cause. */
export function causeText({ source, component, finding }: Cause, subject: ObjectRef): string {
  const { kind, name } = finding.object;
  const isSubject = kind === subject.kind && name === subject.name;
  const where = component === undefined ? "" : `${componentText(component)}: `;
  // What Kubernetes answered is a sentence of its own; what we saw goes on from its subject.
  const what = isSubject ? "" : `${kind} ${name}${source === "problem" ? ":" : ""} `;
  const text = `${where}${what}${finding.message}`;
  return truncateMessage(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

/** How people call the component. */
export function componentText({ name, role }: NonNullable<Cause["component"]>): string {
  return role === "odgm" ? "State store" : `Function ${name}`;
}

/** "1 function", "3 functions". */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
