import { failedPrecondition } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import type { SecretData } from "./renew.ts";
import type { CertificateStore } from "./self-signed-certificates.ts";

interface Secret extends KubeObject {
  /** Base64. */
  readonly data?: Readonly<Record<string, string>>;
}

const SECRETS = resourceType<Secret>({
  group: "",
  version: "v1",
  kind: "Secret",
  resource: "secrets",
  namespaced: true,
});

const KEYS = ["tls.crt", "tls.key", "ca.crt", "next.crt", "next.key"] as const;

/** The names of the Secrets of an installation. */
export interface SecretNames {
  readonly authority: string;
  readonly server: string;
  readonly client: string;
}

/**
 * Stores the certificates in three Secrets.
 *
 * They must exist, empty at first: the installation creates them and removes them again, and the manager needs no
 * permission to create Secrets.
 */
export function createKubeCertificateStore(
  client: KubeClient,
  namespace: string,
  names: SecretNames,
): CertificateStore {
  const secrets = client.resource(SECRETS);
  const loadOne = async (name: string, signal: AbortSignal): Promise<{ data: SecretData; version: string }> => {
    const found = await secrets.find({ namespace, name }, { signal });
    if (found === undefined) {
      const path = `${namespace}/${name}`;
      throw failedPrecondition(path, `Secret ${path} does not exist; create it empty, or install the manifests again`);
    }
    return { data: decoded(found), version: found.metadata.resourceVersion };
  };
  return {
    load: async (signal) => {
      // One after the other, so that the same problem is reported each time.
      const authority = await loadOne(names.authority, signal);
      const server = await loadOne(names.server, signal);
      const leaf = await loadOne(names.client, signal);
      return {
        authority: authority.data,
        server: server.data,
        client: leaf.data,
        versions: { authority: authority.version, server: server.version, client: leaf.version },
      };
    },
    save: async (part, data, version, signal) => {
      const changes = Object.fromEntries(KEYS.map((key) => [key, encoded(data[key])]));
      const patch = { metadata: { resourceVersion: version }, data: changes };
      await secrets.patch({ namespace, name: names[part] }, "merge", patch, { signal });
    },
  };
}

/** Base64; null deletes a key in a merge patch. */
function encoded(text: string | undefined): string | null {
  return text === undefined ? null : Buffer.from(text).toString("base64");
}

function decoded({ data = {} }: Secret): SecretData {
  return Object.fromEntries(
    Object.entries(data).map(([name, text]) => [name, Buffer.from(text, "base64").toString("utf8")]),
  );
}
