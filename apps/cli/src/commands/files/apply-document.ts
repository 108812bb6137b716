import { Fault, joinViolations } from "@oaas/foundation";
import type { ResourceDocument } from "../../documents/document.ts";
import { EXIT, exitCodeOf, type ExitCode } from "../../exit-code.ts";
import { rejectionText } from "./rejection-text.ts";
import { printInterrupted } from "../observe/follow-deployment.ts";
import type { Session } from "../../session/session.ts";

/**
 * Returns the documents that match the schema and prints every violation of the others with file, line and column. Unknown
 * fields count unless the package manager is asked to warn about them or to ignore them.
 */
export async function filterValid(
  session: Session,
  documents: readonly ResourceDocument[],
  validate = "strict",
): Promise<readonly ResourceDocument[]> {
  const { deploymentRequestInput, packageInput, readBy, unknownFields } = await import("@oaas/contracts/rest");
  return documents.filter((document) => {
    const schema = document.kind === "package" ? packageInput : deploymentRequestInput;
    const read = readBy(schema, document.content);
    const unknown = validate === "strict" ? unknownFields(schema, document.content) : [];
    const violations = joinViolations(unknown, read.ok ? [] : read.error);
    if (violations.length === 0) return true;
    const fault = new Fault({ kind: "invalid-argument", violations }, `${document.kind} ${document.name} is invalid`);
    const locate = (path: string): string => `${document.locationOf(path)} ${path}`;
    session.environment.terminal.err(session.formatFault(fault, { locate }));
    return false;
  });
}

/** A document, and whether its object exists. */
interface DocumentState {
  readonly document: ResourceDocument;
  readonly action: "create" | "update";
  readonly etag: string | null;
}

/** Applies one document and prints the outcome. */
export async function applyDocument(
  session: Session,
  { document, action, etag }: DocumentState,
  how: { readonly reason?: string; readonly applyDeployments?: boolean; readonly validate?: string },
): Promise<ExitCode> {
  const { kind, name, content } = document;
  const query = {
    reason: how.reason,
    field_validation: how.validate,
    ...(kind === "package" && how.applyDeployments === true ? { apply_deployments: true } : {}),
  };
  const headers = etag === null ? {} : { "if-match": etag };
  try {
    const { value } =
      kind === "deployment"
        ? await session.call("putDeployment", { parameters: { key: name }, body: content, query, headers })
        : action === "create"
          ? await session.call("createPackage", { body: content, query })
          : await session.call("updatePackage", { parameters: { name }, body: content, query, headers });
    session.recordOutcome({ kind, name, result: value.status, message: value.message });
    return EXIT.done;
  } catch (thrown) {
    if (session.environment.signal.aborted) {
      if (kind === "deployment") printInterrupted(session, name);
      throw thrown;
    }
    const fault = Fault.from(thrown);
    session.environment.terminal.err(await rejectionText(session, document, fault));
    session.recordOutcome({ kind, name, result: "failed", code: fault.code, message: fault.message }, "");
    return exitCodeOf(fault);
  }
}
