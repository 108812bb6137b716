import type { JsonObject } from "@oaas/kube-core";

/** The caller of a request. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Members may do everything. */
export const MASTERS = "system:masters";
export const AUTHENTICATED = "system:authenticated";

/** The user of requests without credentials. */
export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** A user as shown in reviews. */
export function userInfo({ name, uid, groups, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups: [...groups],
    ...(extra === undefined
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}

/** The user of a service account. */
export function serviceAccountUser(account: { namespace: string; name: string; uid: string; tokenId: string }): User {
  const { namespace, name, uid, tokenId } = account;
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, AUTHENTICATED],
    extra: { "authentication.kubernetes.io/credential-id": [`JTI=${tokenId}`] },
  };
}
