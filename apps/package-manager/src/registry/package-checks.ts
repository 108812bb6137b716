import { Fault, invalidArgument, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { Package, PackageName } from "@oaas/models";
import { MAX_TRANSACTION_BYTES } from "@oaas/storage";

export function assertSameName(input: Package, name: PackageName): void {
  if (input.name === name) return;
  throw invalidArgument("the package", [
    { path: "$.name", message: `is "${input.name}", but the path names "${name}"`, fix: "use the same name in both" },
  ]);
}

/** A package is written twice, as the package and as its newest revision; the rest is for indexes. */
const MAX_BYTES = MAX_TRANSACTION_BYTES / 2 - 16_384;

export function assertFits(input: Package, text: string): void {
  if (text.length * 3 <= MAX_BYTES) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_BYTES) return;
  const violation = {
    path: ROOT_PATH,
    message: `takes ${bytes} bytes in the store; the limit is ${MAX_BYTES}`,
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

/** The first five names and the number of the others. */
export function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `"${name}"`);
  return names.length > 5 ? `${shown.join(", ")} and ${names.length - 5} more` : shown.join(", ");
}
