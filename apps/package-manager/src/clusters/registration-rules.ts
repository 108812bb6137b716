import { ROUTES } from "@oaas/contracts/rest";
import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { ClusterRegistration } from "../use-cases.ts";

/** Under which names the reader of a violation knows the members of a registration. */
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

/** Words that stand in a path where the name of a cluster stands in others, such as health in /clusters/health. */
const RESERVED: ReadonlySet<string> = new Set(
  Object.values(ROUTES).flatMap(({ path }) => /\/(?:clusters|envs)\/([^/{]+)$/.exec(path)?.[1] ?? []),
);

/** What is wrong with a registration that no single member can say. */
export function checkRegistration(
  registration: ClusterRegistration,
  names: RegistrationNames = API_NAMES,
): readonly Violation[] {
  const { name, url, tls, token, tokenFile } = registration;
  const { protocol, pathname, search, hash, username, password } = new URL(url);
  const violations: Violation[] = [];
  const refuse = (path: string, message: string, fix: string): void => void violations.push({ path, message, fix });
  if (RESERVED.has(name)) {
    refuse(names.name, `"${name}" is a word of the API (/clusters/${name}), not a name`, "choose another name");
  }
  if (username !== "" || password !== "") {
    refuse(names.url, "carries a user or a password", "take it out; a token goes in its own place");
  }
  if (pathname !== "/" || search !== "" || hash !== "") {
    refuse(names.url, "has something behind host and port, which gRPC has no use for", "end it after the port");
  }
  if (tls !== undefined && protocol === "http:") {
    refuse(names.tls, "says how to use TLS, and the address begins with http://", "begin the address with https://");
  }
  if ((tls?.certificateFile === undefined) !== (tls?.keyFile === undefined)) {
    refuse(names.tls, "has one of client certificate and key", "give both, or neither");
  }
  if (token !== undefined && tokenFile !== undefined) {
    refuse(names.token, "is given as a value and as a file", "give one of the two");
  }
  if (token !== undefined && token !== "" && !isToken(token)) {
    refuse(names.token, "has a character that a header cannot carry", "use letters, digits and -._~+/=");
  }
  return violations;
}

/** Whether a header can carry a token. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Whether two clusters are called at the same place, where only one class runtime manager can be. */
export function hasSameAddress(a: { readonly url: string }, b: { readonly url: string }): boolean {
  return new URL(a.url).origin === new URL(b.url).origin;
}
