import { present } from "@oaas/contracts/rest";
import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { SecretFolder } from "../ports.ts";
import type { ClusterRegistration } from "../use-cases.ts";

/** A registration that came over the API, with each file it names found in the folder of such files. */
export function resolveSecretFiles(
  cluster: ClusterRegistration,
  files: SecretFolder,
): Result<ClusterRegistration, readonly Violation[]> {
  const violations: Violation[] = [];
  const find = (name: string | undefined, ...path: string[]): string | undefined => {
    if (name === undefined) return undefined;
    const found = files.find(name);
    if (found.ok) return found.value;
    violations.push({ path: pathOf(ROOT_PATH, ...path), ...found.error });
    return undefined;
  };
  const { tls } = cluster;
  const found = present({
    ...cluster,
    tokenFile: find(cluster.tokenFile, "api_key_file"),
    tls:
      tls &&
      present({
        caFile: find(tls.caFile, "tls", "ca_cert"),
        certificateFile: find(tls.certificateFile, "tls", "client_cert"),
        keyFile: find(tls.keyFile, "tls", "client_key"),
        insecure: tls.insecure,
      }),
  });
  return violations.length > 0 ? err(violations) : ok(found);
}
