import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

/** Refuses to run a command in a pod, with the reason and the alternatives. */
export function refuseExec(_session: Session, _flags: object, ..._arguments: readonly string[]): never {
  throw new UsageError(
    "oaas exec is not offered: a command in a pod changes what no revision describes, and the managers would need the right to run any command in any pod, and with it to read every Secret there",
    "read the output with 'oaas logs', call a function with 'oaas invoke', ask 'oaas explain' why it is not ready; for a shell use 'kubectl exec' with your own account in the cluster",
  );
}
