import type { ObjectRef } from "@oaas/kube-core";
import type { Assessment, Cause } from "../diagnosis/assess.ts";

/** Maximum length of a function's message; conditions allow more. */
const MAX_LENGTH = 2_000;

/** Truncates a text to fit every message of the status. */
export function truncateMessage(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
}

/** One sentence that names component, object and cause. */
export function causeText({ source, component, finding }: Cause, subject: ObjectRef): string {
  const { kind, name } = finding.object;
  const isSubject = kind === subject.kind && name === subject.name;
  const where = component === undefined ? "" : `${componentText(component)}: `;
  // A problem has a complete sentence from Kubernetes; a finding is a predicate of its object.
  const what = isSubject ? "" : `${kind} ${name}${source === "problem" ? ":" : ""} `;
  const text = `${where}${what}${finding.message}`;
  return truncateMessage(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

/** The cause for people, without the Kubernetes object if it is not part of the cause. */
export function plainCauseText(cause: Cause, subject: ObjectRef): string {
  const { component, finding } = cause;
  if (finding.plain === undefined || component === undefined) return causeText(cause, subject);
  return truncateMessage(`${componentText(component)}: ${finding.plain}.`);
}

/** The component as shown to users. */
export function componentText({ name, role }: NonNullable<Cause["component"]>): string {
  return role === "odgm" ? "State store" : `Function ${name}`;
}

/** "2 functions (1 scaled to zero) and the state store"; empty without components. */
export function componentsText({ functions, odgm }: Pick<Assessment, "functions" | "odgm">): string {
  const count = functions.length;
  const zero = functions.filter(({ readiness }) => readiness.reason === "ScaledToZero").length;
  const note = zero === 0 ? "" : ` (${zero === count ? "" : `${zero} `}scaled to zero)`;
  const parts = [
    ...(count === 0 ? [] : [`${countText(count, "function")}${note}`]),
    ...(odgm === undefined ? [] : ["the state store"]),
  ];
  return parts.join(" and ");
}

/** "1 function", "3 functions". */
function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
