/** A user with a bearer token. */
export interface TokenUser {
  readonly name: string;
  readonly token: string;
  readonly groups?: readonly string[];
}

/** The static token file of the API server: token, user, uid, groups. */
export function tokenFile(users: readonly TokenUser[]): string {
  return users.map((user) => `${user.token},${user.name},${user.name},"${(user.groups ?? []).join(",")}"\n`).join("");
}

/** A kubeconfig with all users; the first is current, the others are selected with `kubectl --user`. */
export function kubeconfigText(name: string, url: string, ca: string, users: readonly TokenUser[]): string {
  const [current] = users;
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
      users: users.map((user) => ({ name: user.name, user: { token: user.token } })),
      contexts: [{ name, context: { cluster: name, user: current?.name ?? "" } }],
      "current-context": name,
    },
    null,
    2,
  );
}
