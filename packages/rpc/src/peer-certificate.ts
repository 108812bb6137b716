import type { PeerCertificate as NodeCertificate } from "node:tls";

/** The names in a verified client certificate, as `CN:pm`, `DNS:pm.oaas`, `URI:spiffe://oaas/pm`. */
export interface PeerCertificate {
  readonly commonName: string | undefined;
  /** Common name and subject alternative names, each with its type. */
  readonly names: readonly string[];
}

/** Reads the names of a certificate. */
export function readPeerCertificate({
  subject,
  subjectaltname,
}: Pick<NodeCertificate, "subject" | "subjectaltname">): PeerCertificate {
  const { CN } = subject;
  const commonName = Array.isArray(CN) ? undefined : CN;
  return {
    commonName,
    names: [...(commonName === undefined ? [] : [`CN:${commonName}`]), ...alternativeNames(subjectaltname ?? "")],
  };
}

/** A name, whose value Node writes as a JSON string if it contains a comma, a quote or a control character. */
const ALTERNATIVE_NAME = /([A-Za-z][\w ]*):(?:"((?:[^"\\]|\\.)*)"|([^,"]*))(?:, |$)/y;

/** Splits the text in which Node returns alternative names. Quoted names are left out: no rule can name them. */
function alternativeNames(text: string): readonly string[] {
  const names: string[] = [];
  ALTERNATIVE_NAME.lastIndex = 0;
  while (ALTERNATIVE_NAME.lastIndex < text.length) {
    const match = ALTERNATIVE_NAME.exec(text);
    // A text in another format: trust none of it.
    if (!match) return [];
    const [, type = "", , plain] = match;
    if (plain !== undefined) names.push(`${type}:${type === "DNS" ? plain.toLowerCase() : plain}`);
  }
  return names;
}

/** Permission of the certificates with a name. */
export interface ClientName<Role extends string = string> {
  /** `CN:…`, `DNS:…`, `URI:…` or `*` for every certificate. */
  readonly name: string;
  readonly role: Role;
}

/** The rules that apply to a certificate, in the given order. */
export function rulesOfCertificate<Role extends string>(
  rules: readonly ClientName<Role>[],
  { names }: PeerCertificate,
): readonly ClientName<Role>[] {
  return rules.filter(({ name }) => name === "*" || names.includes(name));
}
