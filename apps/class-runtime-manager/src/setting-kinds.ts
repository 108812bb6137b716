import { createHash } from "node:crypto";
import { invalid, type Kind } from "@oaas/config";
import { err, ok, type Result, type Violation } from "@oaas/foundation";
import { isValidName } from "@oaas/kube-core";
import { findOverrideProblems, type QueryOverrides } from "@oaas/nfr/queries";

/** The served namespaces. */
export interface NamespaceScope {
  /** Whether every namespace is served, except system namespaces that are not listed. */
  readonly all: boolean;
  /** Listed namespaces. The first is the default of requests without a namespace. */
  readonly listed: readonly string[];
}

export const namespaceScope: Kind<NamespaceScope> = {
  label: "comma-separated list of namespaces and *",
  echo: true,
  written: "list",
  parse: (text) => {
    const names = text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    const listed = [...new Set(names.filter((name) => name !== "*"))];
    const bad = listed.find((name) => !isValidName("dns-1123-label", name));
    if (bad !== undefined) return invalid(`"${bad}" is not a valid namespace name`);
    return names.length === 0 ? invalid("must contain a namespace or *") : ok({ all: names.includes("*"), listed });
  },
  show: ({ all, listed }) => [...(all ? ["*"] : []), ...listed].join(","),
  fromDefault: (scope) => scope,
};

/** Roles of callers, each with the permissions of the one before: viewers read, deployers also deploy and delete. */
export const ROLES = ["viewer", "deployer"] as const;
export type Role = (typeof ROLES)[number];

/** A bearer token and its caller. */
export interface AccessToken {
  readonly name: string;
  readonly role: Role;
  readonly token: string;
}

const NAMED_TOKEN = /^([\w.-]+):(viewer|deployer):(.+)$/;

/** Bearer tokens. An empty list is rejected, because it would disable authentication. */
export const bearerTokens: Kind<readonly AccessToken[]> = {
  label: "token or name:role:token, or several separated by commas or lines",
  echo: false,
  parse: (text) => {
    const tokens = text
      .split(/[,\r\n]/)
      .map((token) => token.trim())
      .filter((token) => token !== "");
    if (tokens.length === 0) return invalid("contains no token", "set a token or unset the variable");
    const bad = tokens.findIndex((token) => !/^[\x21-\x7e]+$/.test(token));
    if (bad < 0) return ok(tokens.map(readToken));
    return invalid(`token ${bad + 1} has a character that is not valid in a header`, "use letters, digits and -._~+/=");
  },
  show: (tokens) => tokens.map(({ name, role, token }) => `${name}:${role}:${token}`).join(","),
  fromDefault: (tokens) => tokens,
};

/** A token without a name is a deployer, named by the start of its digest. */
function readToken(text: string): AccessToken {
  const [, name = "", role, token = ""] = NAMED_TOKEN.exec(text) ?? [];
  if (role !== undefined) return { name, role: role as Role, token };
  const digest = createHash("sha256").update(text).digest("hex");
  return { name: `token-${digest.slice(0, 8)}`, role: "deployer", token: text };
}

/** A name in a certificate. Others would be changed by its encoding, and the certificate replaced again and again. */
export const dnsName = nameKind("DNS name");

export const objectName = nameKind("name of a Kubernetes object");

function nameKind(label: string): Kind<string> {
  return {
    label,
    echo: true,
    parse: (text) =>
      isValidName("dns-1123-subdomain", text)
        ? ok(text)
        : invalid(`must be a ${label}`, "use lower case letters, digits, - and ."),
    show: (name) => name,
    fromDefault: (name) => name,
  };
}

/** Queries by signal, checked as far as possible without the server. */
export function queryOverridesFromJson(value: unknown): Result<QueryOverrides, readonly Violation[]> {
  const problems = findOverrideProblems(value);
  return problems.length > 0 ? err(problems) : ok(value as QueryOverrides);
}
