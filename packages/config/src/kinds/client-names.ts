import { err, ok, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { Kind } from "./kind.ts";

/** The role of client certificates with a name: `CN:…`, `DNS:…`, `URI:…`, or `*` for every certificate. */
export interface ClientNameSetting<Role extends string> {
  readonly name: string;
  readonly role: Role;
}

/** A cluster for which client certificates with a name may report. */
export interface ReporterSetting {
  readonly name: string;
  readonly cluster: string;
}

const NAME = /^(?:CN|DNS|URI):\S(?:.*\S)?$/;
const CLUSTER = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Names of client certificates with their roles: `CN:pm=deployer,URI:spiffe://oaas/ci=viewer`. */
export function clientNamesKind<const Role extends string>(
  roles: readonly Role[],
): Kind<readonly ClientNameSetting<Role>[]> {
  return certificateNames({
    label: "comma-separated list of CN:name=role, DNS:name=role, URI:name=role or *=role",
    example: `CN:pm=${roles.at(-1) ?? ""}`,
    isName: (name) => name === "*" || NAME.test(name),
    read: (name, text) => {
      const role = roles.find((each) => each === text);
      return role === undefined ? `"${text}" is not a role; use ${roles.join(" or ")}` : { name, role };
    },
    write: ({ name, role }) => `${name}=${role}`,
  });
}

/** Names of client certificates with the cluster that each may report for: `CN:oprc-crm=local`. Each name has one cluster. */
export const reporterNamesKind: Kind<readonly ReporterSetting[]> = certificateNames<ReporterSetting>({
  label: "comma-separated list of CN:name=cluster, DNS:name=cluster or URI:name=cluster",
  example: "CN:oprc-crm=local",
  isName: (name) => NAME.test(name),
  read: (name, cluster, earlier) => {
    if (!CLUSTER.test(cluster))
      return `"${cluster}" is not the name of a cluster; use lower case letters, digits and -`;
    if (earlier.some((each) => each.name === name))
      return `"${name}" is listed twice; give each cluster a certificate with a name of its own`;
    return { name, cluster };
  },
  write: ({ name, cluster }) => `${name}=${cluster}`,
});

interface CertificateNames<T> {
  readonly label: string;
  readonly example: string;
  readonly isName: (name: string) => boolean;
  /** Returns the problem and its fix, separated by a semicolon, if the value is not valid. */
  readonly read: (name: string, value: string, earlier: readonly T[]) => T | string;
  readonly write: (item: T) => string;
}

/** A list of names of certificates, each with a value. */
function certificateNames<T>({ label, example, isName, read, write }: CertificateNames<T>): Kind<readonly T[]> {
  return {
    label,
    echo: true,
    written: "list",
    parse: (text) => {
      const found: T[] = [];
      const violations: Violation[] = [];
      const items = text.split(",").map((item) => item.trim());
      for (const [index, item] of items.filter((each) => each !== "").entries()) {
        // A URI may contain "=".
        const at = item.lastIndexOf("=");
        const [name, value] = [item.slice(0, Math.max(0, at)).trim(), item.slice(at + 1).trim()];
        const path = pathOf(ROOT_PATH, index);
        if (!isName(name)) {
          violations.push({
            path,
            message: `"${item}" does not name a certificate`,
            fix: `write for example ${example}`,
          });
          continue;
        }
        // DNS names are compared in lower case.
        const one = read(name.startsWith("DNS:") ? `DNS:${name.slice(4).toLowerCase()}` : name, value, found);
        if (typeof one !== "string") found.push(one);
        else {
          const [message = "", fix = ""] = one.split("; ");
          violations.push({ path, message, fix });
        }
      }
      if (violations.length > 0) return err(violations);
      if (found.length > 0) return ok(found);
      return err([{ path: ROOT_PATH, message: "names no certificate", fix: "list a name, or unset the variable" }]);
    },
    show: (all) => all.map(write).join(","),
    fromDefault: (all) => all,
  };
}
