import { err, ok, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { Kind } from "./kind.ts";

/** The role of client certificates with a name: `CN:…`, `DNS:…`, `URI:…`, or `*` for every certificate. */
export interface ClientNameSetting<Role extends string> {
  readonly name: string;
  readonly role: Role;
}

const NAME = /^(?:\*|(?:CN|DNS|URI):\S(?:.*\S)?)$/;

/** Names of client certificates with their roles: `CN:pm=deployer,URI:spiffe://oaas/ci=viewer`. */
export function clientNamesKind<const Role extends string>(
  roles: readonly Role[],
): Kind<readonly ClientNameSetting<Role>[]> {
  return {
    label: "comma-separated list of CN:name=role, DNS:name=role, URI:name=role or *=role",
    echo: true,
    written: "list",
    parse: (text) => {
      const rules: ClientNameSetting<Role>[] = [];
      const violations: Violation[] = [];
      const items = text.split(",").map((item) => item.trim());
      for (const [index, item] of items.filter((each) => each !== "").entries()) {
        // A URI may contain "=".
        const at = item.lastIndexOf("=");
        const [name, role] = [item.slice(0, Math.max(0, at)).trim(), item.slice(at + 1).trim()];
        const path = pathOf(ROOT_PATH, index);
        const known = roles.find((each) => each === role);
        if (!NAME.test(name)) {
          const fix = `write for example CN:pm=${roles.at(-1) ?? ""}`;
          violations.push({ path, message: `"${item}" does not name a certificate`, fix });
        } else if (known === undefined) {
          violations.push({ path, message: `"${role}" is not a role`, fix: `use ${roles.join(" or ")}` });
        } else {
          const isDns = name.startsWith("DNS:");
          rules.push({ name: isDns ? `DNS:${name.slice(4).toLowerCase()}` : name, role: known });
        }
      }
      if (violations.length > 0) return err(violations);
      if (rules.length > 0) return ok(rules);
      return err([{ path: ROOT_PATH, message: "names no certificate", fix: "list a name, or unset the variable" }]);
    },
    show: (rules) => rules.map(({ name, role }) => `${name}=${role}`).join(","),
    fromDefault: (rules) => rules,
  };
}
