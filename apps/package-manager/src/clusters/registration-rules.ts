import { omitUndefined, ROUTES } from "@oaas/contracts/rest";
import { err, ok, pathOf, ROOT_PATH, timestamp, type Result, type Violation } from "@oaas/foundation";
import type { SecretFolder } from "../ports.ts";
import type { ClusterRegistration } from "../use-cases.ts";

/** The paths of registration fields in violations. */
export interface RegistrationNames {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly tls: string;
}

const API_NAMES: RegistrationNames = {
  name: pathOf(ROOT_PATH, "name"),
  url: pathOf(ROOT_PATH, "url"),
  token: pathOf(ROOT_PATH, "api_key"),
  tls: pathOf(ROOT_PATH, "tls"),
};

/** Path segments that would collide with a cluster name, such as health in /clusters/health. */
const RESERVED: ReadonlySet<string> = new Set(
  Object.values(ROUTES).flatMap(({ path }) => /\/(?:clusters|envs)\/([^/{]+)$/.exec(path)?.[1] ?? []),
);

/** Checks the rules across the fields of a registration. */
export function checkRegistration(
  registration: ClusterRegistration,
  names: RegistrationNames = API_NAMES,
): readonly Violation[] {
  const { name, url, tls, token, tokenFile, defaultNamespace, allowedNamespaces = [] } = registration;
  const { protocol, pathname, search, hash, username, password } = new URL(url);
  const violations: Violation[] = [];
  const refuse = (path: string, message: string, fix: string): void => void violations.push({ path, message, fix });
  if (RESERVED.has(name)) {
    refuse(names.name, `"${name}" is reserved by the API (/clusters/${name})`, "use another name");
  }
  if (username !== "" || password !== "") {
    refuse(names.url, "contains a user or a password", "remove it and set a token instead");
  }
  if (pathname !== "/" || search !== "" || hash !== "") {
    refuse(names.url, "has a path, query or fragment", "end it after the port");
  }
  if (tls !== undefined && protocol === "http:") {
    refuse(names.tls, "is set, but the URL starts with http://", "use https:// in the URL");
  }
  if ((tls?.certificateFile === undefined) !== (tls?.keyFile === undefined)) {
    refuse(names.tls, "has only one of client certificate and key", "set both or neither");
  }
  if (token !== undefined && tokenFile !== undefined) {
    refuse(names.token, "is set as a value and as a file", "set only one of them");
  }
  if (token !== undefined && token !== "" && !isToken(token)) {
    refuse(names.token, "contains a character that is not allowed in a header", "use letters, digits and -._~+/=");
  }
  if (defaultNamespace !== undefined && allowedNamespaces.length > 0 && !allowedNamespaces.includes(defaultNamespace)) {
    refuse(
      pathOf(ROOT_PATH, "default_namespace"),
      `"${defaultNamespace}" is not in allowed_namespaces`,
      `add it there, or use one of ${allowedNamespaces.join(", ")}`,
    );
  }
  return violations;
}

/** Rejects a promised availability that is dated after today, which would hide that it is outdated. */
export function checkPriorDate(
  { availability }: Pick<ClusterRegistration, "availability">,
  nowMs: number,
  path: string = ROOT_PATH,
): readonly Violation[] {
  const date = availability?.date;
  // Some clocks are a time zone ahead.
  if (date === undefined || Date.parse(`${date}T00:00:00Z`) <= nowMs + DAY_MS) return [];
  const today = timestamp(nowMs).slice(0, 10);
  return [
    {
      path: pathOf(path, "availability", "date"),
      message: `${date} is in the future`,
      fix: `use the day of the statement, at most ${today}`,
    },
  ];
}

const DAY_MS = 86_400_000;

/** Whether a text is a valid token for a header. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Whether two clusters have the same address, and therefore the same class runtime manager. */
export function hasSameAddress(a: { readonly url: string }, b: { readonly url: string }): boolean {
  return new URL(a.url).origin === new URL(b.url).origin;
}

/** Resolves the file names of a registration from the API to paths in the secrets folder. */
export function resolveSecretFiles(
  cluster: ClusterRegistration,
  files: SecretFolder,
): Result<ClusterRegistration, readonly Violation[]> {
  const violations: Violation[] = [];
  const resolve = (name: string | undefined, ...path: string[]): string | undefined => {
    if (name === undefined) return undefined;
    const found = files.find(name);
    if (found.ok) return found.value;
    violations.push({ path: pathOf(ROOT_PATH, ...path), ...found.error });
    return undefined;
  };
  const { tls } = cluster;
  const resolved = omitUndefined({
    ...cluster,
    tokenFile: resolve(cluster.tokenFile, "api_key_file"),
    tls:
      tls &&
      omitUndefined({
        caFile: resolve(tls.caFile, "tls", "ca_cert"),
        certificateFile: resolve(tls.certificateFile, "tls", "client_cert"),
        keyFile: resolve(tls.keyFile, "tls", "client_key"),
        insecure: tls.insecure,
      }),
  });
  return violations.length > 0 ? err(violations) : ok(resolved);
}
