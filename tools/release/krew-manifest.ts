/** An archive of the kubectl plug-in, and the machines that it is for. */
export interface PluginArchive {
  readonly os: "linux" | "darwin";
  /** Every architecture if undefined. */
  readonly arch?: "amd64" | "arm64";
  readonly file: string;
  readonly sha256: string;
}

interface KrewPlatform {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly uri: string;
  readonly sha256: string;
  readonly bin: string;
}

/** A plug-in manifest of krew. */
export interface KrewManifest {
  readonly apiVersion: "krew.googlecontainertools.github.com/v1alpha2";
  readonly kind: "Plugin";
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly description: string;
    readonly caveats: string;
    readonly platforms: readonly KrewPlatform[];
  };
}

export const PLUGIN_NAME = "oaas";

const DESCRIPTION = `\
Manages packages, classes and deployments of Object-as-a-Service (OaaS) through
the REST API of its package manager: apply files with a preview, follow roll-outs,
explain plans and conditions, read logs and events, and invoke functions.
`;

/** krew links one program only, so that the completion needs a copy. */
const CAVEATS = `\
Name the package manager once:
  $ kubectl oaas context set main --pm http://127.0.0.1:8080

kubectl completes the words of this plug-in with a second program. Put a copy on PATH:
  $ cp "\${KREW_ROOT:-$HOME/.krew}"/store/oaas/*/kubectl_complete-oaas "\${KREW_ROOT:-$HOME/.krew}/bin/"

On macOS the plug-in needs Node 24.15 or later on PATH.
`;

/** Renders the manifest of a version whose archives are below an address. */
export function createKrewManifest(version: string, baseUrl: string, archives: readonly PluginArchive[]): KrewManifest {
  const base = baseUrl.endsWith("/") ? baseUrl : `${baseUrl}/`;
  return {
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: PLUGIN_NAME },
    spec: {
      version: `v${version}`,
      shortDescription: "Deploy and operate classes of Object-as-a-Service",
      description: DESCRIPTION,
      caveats: CAVEATS,
      platforms: archives.map(({ os, arch, file, sha256 }) => ({
        selector: { matchLabels: { os, ...(arch === undefined ? {} : { arch }) } },
        uri: new URL(file, base).href,
        sha256,
        bin: "kubectl-oaas",
      })),
    },
  };
}
