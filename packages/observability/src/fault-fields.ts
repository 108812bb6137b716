import { Fault } from "@oaas/foundation";

type Convert = (part: unknown) => unknown;

/**
 * Converts a fault or any other error to log fields: kind, code, context, violations, parts and the chain of causes.
 *
 * Only internal faults and foreign errors have a stack. `convert` converts a part and bounds the depth, so that a
 * cyclic chain of causes ends.
 */
export function faultFields(error: Error, convert: Convert): Record<string, unknown> {
  const fields = error instanceof Fault ? domainFaultFields(error, convert) : foreignErrorFields(error, convert);
  if (error.cause !== undefined) fields["cause"] = convert(error.cause);
  return fields;
}

function domainFaultFields(fault: Fault, convert: Convert): Record<string, unknown> {
  const { kind, ...detail } = fault.detail;
  const fields: Record<string, unknown> = {
    kind,
    code: fault.code,
    message: convert(fault.message),
    retryable: fault.retryable,
  };
  for (const [key, part] of Object.entries(detail)) fields[key] = convert(part);
  if (fault.correlationId !== undefined) fields["correlation_id"] = fault.correlationId;
  if (Object.keys(fault.context).length > 0) fields["context"] = convert(fault.context);
  if (kind === "internal") fields["stack"] = convert(fault.stack);
  return fields;
}

const STANDARD_PROPERTIES = new Set(["name", "message", "stack", "cause", "errors"]);

function foreignErrorFields(error: Error, convert: Convert): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    name: error.name,
    message: convert(error.message),
    stack: convert(error.stack),
  };
  const facts = Object.entries(error).filter(([key]) => !STANDARD_PROPERTIES.has(key));
  if (facts.length > 0) fields["facts"] = convert(Object.fromEntries(facts));
  if (error instanceof AggregateError) fields["errors"] = convert(error.errors);
  return fields;
}
