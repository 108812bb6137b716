import { groupResourceText, type Status } from "@oaas/kube-core";
import type { PathAttempt, ResourceAttempt } from "./policy-rule.ts";
import type { User } from "../authentication/user.ts";

/** The response to invalid credentials. */
export const UNAUTHORIZED: Status = { status: "Failure", message: "Unauthorized", reason: "Unauthorized", code: 401 };

/** The response to a caller without permission. */
export function forbiddenResource(user: User, attempt: ResourceAttempt): Status {
  const { verb, group, resource, subresource, name, namespace } = attempt;
  const resourcePath = subresource === undefined || subresource === "" ? resource : `${resource}/${subresource}`;
  const scope =
    namespace === undefined || namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const groupResource = groupResourceText({ group, resource });
  const subject = name === undefined || name === "" ? groupResource : `${groupResource} ${JSON.stringify(name)}`;
  return forbidden(
    `${subject} is forbidden: User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(resourcePath)} in API group ${JSON.stringify(group)} ${scope}`,
    { ...(name === undefined || name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource },
  );
}

export function forbiddenPath(user: User, { verb, path }: PathAttempt): Status {
  return forbidden(`forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}`, {});
}

function forbidden(message: string, details: NonNullable<Status["details"]>): Status {
  return { status: "Failure", message, reason: "Forbidden", details, code: 403 };
}
