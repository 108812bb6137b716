import { ROOT_PATH, type Fault } from "@oaas/foundation";
import type { ResourceDocument } from "../../documents/document.ts";
import { EXIT, exitCodeOf, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

/** Formats the rejection of a document with the location of each field in its file. */
export async function rejectionText(session: Session, document: ResourceDocument, fault: Fault): Promise<string> {
  // A plan request nests the deployment in `$.deployment`.
  const locate = (path: string): string => {
    const own = path.replace(/^\$\.deployment(?=$|[.[])/, ROOT_PATH);
    return own.startsWith("$.what_if")
      ? (WHAT_IF_FLAGS[own.split(/[.[]/)[2] ?? ""] ?? own)
      : `${document.locationOf(own)} ${own}`;
  };
  const hint = await session.fixHint(fault);
  return session.formatFault(locateMissingPackage(fault, document), { locate, hint });
}

/** The flag for each what-if field of a plan request. */
const WHAT_IF_FLAGS: Readonly<Record<string, string>> = {
  clusters_down: "--cluster-down",
  availability: "--availability",
  package_revision: "--revision",
};

/** Turns a missing package into a violation of the field that names it. */
function locateMissingPackage(fault: Fault, { kind, content }: ResourceDocument): Fault {
  const { detail } = fault;
  if (kind !== "deployment" || detail.kind !== "not-found" || detail.resource !== "package") return fault;
  if (detail.name !== content["package_name"]) return fault;
  const violation = {
    path: "$.package_name",
    message: "package does not exist",
    fix: "apply it first, or use another package",
  };
  return fault.with({ detail: { kind: "invalid-argument", violations: [violation] } });
}

/** The exit code of a rejected dry run: nothing was written, so a failure is a usage error. */
export function dryRunExitCode(fault: Fault): ExitCode {
  const code = exitCodeOf(fault);
  return code === EXIT.failed ? EXIT.usage : code;
}
