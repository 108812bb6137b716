import { createAuthority, type CertificateRequest, type IssuedCertificate } from "@oaas/certificates";

/** A certificate authority for tests, whose key is never stored. */
export interface Authority {
  readonly certificate: string;
  /** Issues a server and client certificate with the lifetime of the authority. */
  issue(request: CertificateRequest): IssuedCertificate;
}

const DAY_MS = 86_400_000;

/**
 * Creates a certificate authority. All certificates are valid from five days ago, because clocks differ, until
 * `validDays` from now.
 */
export function makeAuthority(commonName: string, validDays = 5): Authority {
  const now = Date.now();
  const validity = { from: new Date(now - 5 * DAY_MS), to: new Date(now + validDays * DAY_MS) };
  const authority = createAuthority(commonName, validity);
  return {
    certificate: authority.certificate,
    issue: (request) => authority.issue(request, validity),
  };
}
