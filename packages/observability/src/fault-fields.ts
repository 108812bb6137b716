import { Fault } from "@oaas/foundation";

type Plain = (part: unknown) => unknown;

/**
 * A fault or any other error as log fields: kind, code, context, violations, parts and the chain of causes.
 *
 * A stack is there only where it tells something: for mistakes of ours and for errors that are no faults. `plain` turns
 * a part into JSON and bounds the depth, so a cyclic chain of causes ends.
 */
export function faultFields(error: Error, plain: Plain): Record<string, unknown> {
  const own = error instanceof Fault ? ownFields(error, plain) : foreignFields(error, plain);
  if (error.cause !== undefined) own["cause"] = plain(error.cause);
  return own;
}

function ownFields(fault: Fault, plain: Plain): Record<string, unknown> {
  const { kind, ...detail } = fault.detail;
  const fields: Record<string, unknown> = {
    kind,
    code: fault.code,
    message: plain(fault.message),
    retryable: fault.retryable,
  };
  for (const [key, part] of Object.entries(detail)) fields[key] = plain(part);
  if (fault.correlationId !== undefined) fields["correlation_id"] = fault.correlationId;
  if (Object.keys(fault.context).length > 0) fields["context"] = plain(fault.context);
  if (kind === "internal") fields["stack"] = plain(fault.stack);
  return fields;
}

const STANDARD_PROPERTIES = new Set(["name", "message", "stack", "cause", "errors"]);

function foreignFields(error: Error, plain: Plain): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    name: error.name,
    message: plain(error.message),
    stack: plain(error.stack),
  };
  const facts = Object.entries(error).filter(([key]) => !STANDARD_PROPERTIES.has(key));
  if (facts.length > 0) fields["facts"] = plain(Object.fromEntries(facts));
  if (error instanceof AggregateError) fields["errors"] = plain(error.errors);
  return fields;
}
