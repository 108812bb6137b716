import { Fault, invalidArgument, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { Package, PackageName } from "@oaas/models";
import { MAX_TRANSACTION_BYTES } from "@oaas/storage";

export function assertNamed(input: Package, name: PackageName): void {
  if (input.name === name) return;
  throw invalidArgument("the package", [
    { path: "$.name", message: `is "${input.name}", but the path says "${name}"`, fix: "make the two the same" },
  ]);
}

/** It is written twice, as the package and as its newest revision, with little beside it. */
const MOST_BYTES = MAX_TRANSACTION_BYTES / 2 - 16_384;

export function assertFits(input: Package, text: string): void {
  if (text.length * 3 <= MOST_BYTES) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MOST_BYTES) return;
  const violation = {
    path: ROOT_PATH,
    message: `takes ${bytes} bytes as it is kept, more than ${MOST_BYTES}`,
    fix: "split it into several packages",
  };
  throw invalidArgument(`package "${input.name}"`, [violation]);
}

export function assertValid({ name }: Package, violations: readonly Violation[]): void {
  if (violations.length > 0) throw invalidArgument(`package "${name}"`, violations);
}

export function alreadyRegistered(name: PackageName, cause?: unknown): Fault {
  return new Fault(
    { kind: "already-exists", resource: "package", name },
    `Package "${name}" exists already. Update it with POST /api/v1/packages/${name}.`,
    { cause },
  );
}

/** The first few, and how many more. */
export function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `"${name}"`);
  return names.length > 5 ? `${shown.join(", ")} and ${names.length - 5} more` : shown.join(", ");
}
