import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { failedPrecondition, type Fault } from "@oaas/foundation";
import { isToken } from "../../../clusters/registration-rules.ts";
import type { ClusterRegistration } from "../../../use-cases.ts";

/** TLS settings of a cluster. */
export type ClusterTls = NonNullable<ClusterRegistration["tls"]>;

/** Why the content of a file is not a valid token; undefined if it is. */
export function tokenProblem(file: string, [text = ""]: readonly string[]): Fault | undefined {
  const token = text.trim();
  if (isToken(token)) return undefined;
  const what = token === "" ? "is empty" : "does not contain a single valid token";
  return failedPrecondition(file, `${file} ${what}; write the token into it, on one line`);
}

/** The contents of the TLS files. */
export interface TlsTexts {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** Why certificates and key are not usable; undefined if they are. */
export function tlsProblem(files: ClusterTls, { ca, certificate, key }: TlsTexts): Fault | undefined {
  if (ca !== undefined && certificateIn(ca) === undefined)
    return unusable(files.caFile, "does not contain a certificate");
  if (certificate === undefined || key === undefined) return undefined;
  const clientCertificate = certificateIn(certificate);
  if (clientCertificate === undefined) return unusable(files.certificateFile, "does not contain a certificate");
  const privateKey = keyIn(key);
  if (privateKey === undefined) return unusable(files.keyFile, "does not contain a usable private key");
  if (clientCertificate.checkPrivateKey(privateKey)) return undefined;
  return unusable(files.keyFile, `does not match the certificate in ${files.certificateFile ?? ""}`);
}

function unusable(file: string = "", why: string): Fault {
  return failedPrecondition(file, `${file} ${why}; expected PEM`);
}

function certificateIn(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}

function keyIn(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text);
  } catch {
    return undefined;
  }
}
