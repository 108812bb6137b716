import { omitUndefined } from "@oaas/contracts/rest";
import { invalidArgument, notFound } from "@oaas/foundation";
import { DeploymentCondition, type ClusterName } from "@oaas/models";
import type { Call, PageRequest } from "../../use-cases.ts";

export type Parameters = Readonly<Record<string, string>>;

/** The paging parameters of every list. */
export function pageRequestOf(query: {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly page_token?: string | undefined;
}): PageRequest {
  return omitUndefined({ limit: query.limit, offset: query.offset, pageToken: query.page_token });
}

/** The revision in a path; one that is not a number does not exist. */
export function revisionIn(parameters: Parameters): number {
  const text = parameters["revision"] ?? "";
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound("revision", text);
  return Number(text);
}

/** The condition that a list is filtered by, in any case. */
export function conditionIn(parameter: string, value: string | undefined): DeploymentCondition | undefined {
  if (value === undefined) return undefined;
  const condition = value.toLowerCase() as DeploymentCondition;
  const known = Object.values(DeploymentCondition);
  if (known.includes(condition)) return condition;
  const violation = {
    path: `$.${parameter}`,
    message: `"${value}" is not a condition`,
    fix: `use ${known.join(", ")}`,
  };
  throw invalidArgument("the query", [violation]);
}

/** The cluster, under either of its two names. */
export function clusterIn(query: {
  readonly cluster?: ClusterName | undefined;
  readonly env?: ClusterName | undefined;
}): ClusterName | undefined {
  return query.cluster ?? query.env;
}

/** The call with the reason from the body, if it has one. */
export function withReason(call: Call, reason: string | undefined): Call {
  return reason === undefined ? call : { ...call, reason };
}
