import type { EmbeddedOptions, Gate } from "@oaas/kube-apiserver";
import type { TokenUser } from "@oaas/real-components";

/** Who is let in by which token. */
export function embeddedAccess(users: readonly TokenUser[]): Pick<EmbeddedOptions, "gate"> {
  const tokens = new Set(users.map(({ token }) => `Bearer ${token}`));
  const gate: Gate = {
    refusal: ({ headers }, { path }) =>
      /^\/(?:healthz|livez|readyz|version)/.test(path) || tokens.has(headers["authorization"] ?? "")
        ? undefined
        : { status: "Failure", message: "Unauthorized", reason: "Unauthorized", code: 401 },
  };
  return { gate };
}
