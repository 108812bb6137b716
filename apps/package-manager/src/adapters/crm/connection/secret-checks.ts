import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { failedPrecondition, type Fault } from "@oaas/foundation";
import { isToken } from "../../../clusters/registration-rules.ts";
import type { ClusterRegistration } from "../../../use-cases.ts";

/** How TLS is spoken to a cluster. */
export type ClusterTls = NonNullable<ClusterRegistration["tls"]>;

/** Why the text of a file is not a token that can be sent; undefined when it is. */
export function tokenProblem(file: string, [text = ""]: readonly string[]): Fault | undefined {
  const token = text.trim();
  if (isToken(token)) return undefined;
  const what = token === "" ? "is empty" : "is not one token that a header can carry";
  return failedPrecondition(file, `${file} ${what}; write the token into it, in one line`);
}

/** The texts of the files for TLS, by what they are. */
export interface TlsTexts {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** Why certificates and key cannot be used, or not together; undefined when they can. */
export function tlsProblem(files: ClusterTls, { ca, certificate, key }: TlsTexts): Fault | undefined {
  if (ca !== undefined && certificateIn(ca) === undefined) return unusable(files.caFile, "holds no certificate");
  if (certificate === undefined || key === undefined) return undefined;
  const shown = certificateIn(certificate);
  if (shown === undefined) return unusable(files.certificateFile, "holds no certificate");
  const own = keyIn(key);
  if (own === undefined) return unusable(files.keyFile, "holds no private key that can be used");
  if (shown.checkPrivateKey(own)) return undefined;
  return unusable(files.keyFile, `is not the key of the certificate in ${files.certificateFile ?? ""}`);
}

function unusable(file: string = "", why: string): Fault {
  return failedPrecondition(file, `${file} ${why}; PEM is expected`);
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
