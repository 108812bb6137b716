/** Issues X.509 certificates. Reading order: authority (certificates), der (their encoding). */
export {
  createAuthority,
  createPlaceholder,
  openAuthority,
  type Authority,
  type CertificateRequest,
  type IssuedCertificate,
  type Validity,
} from "./authority.ts";
