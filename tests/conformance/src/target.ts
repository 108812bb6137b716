import type { CommandOptions, CommandResult } from "@oaas/testkit";
import type { Wire } from "./http.ts";

/** A server that runs cases. */
export interface Target extends AsyncDisposable {
  readonly name: "real" | "embedded";
  readonly wire: Wire;
  /** Bearer tokens of the users of the suite. */
  readonly tokens: Readonly<Record<string, string>>;
  /** A kubeconfig file with the users of the suite. */
  readonly kubeconfig: string;
  readonly kubectl: RunKubectl;
}

export type RunKubectl = (
  args: readonly string[],
  options: Pick<CommandOptions, "stdin" | "env" | "timeoutMs">,
) => Promise<CommandResult>;

/**
 * Known to both servers besides the administrator, who is in system:masters; they have no permissions until a case
 * grants them.
 */
export const USERS = [
  { name: "alice", token: "alice-token", groups: ["people"] },
  { name: "bob", token: "bob-token", groups: ["people", "writers"] },
];
