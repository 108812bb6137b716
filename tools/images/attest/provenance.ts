import type { Descriptor } from "../oci/blob.ts";

export const PROVENANCE_TYPE = "https://slsa.dev/provenance/v1";

/** The meaning of the parameters below; documented in docs/guides/images.md. */
const BUILD_TYPE = "https://oaas.io/builds/images/v1";

export interface ProvenanceOptions {
  /** The image, and its name without a tag. */
  readonly subject: Descriptor;
  readonly name: string;
  readonly version: string;
  readonly platforms: readonly string[];
  readonly created: number;
  /** The commit, if the build ran in a git repository. */
  readonly commit: string | undefined;
  readonly builder: string;
  /** Everything from outside of the repository that is in the image. */
  readonly materials: readonly Material[];
}

/** A dependency, with its digests in hex by algorithm. */
export interface Material {
  readonly uri: string;
  readonly digest: Readonly<Record<string, string>>;
}

/** An in-toto statement with a SLSA provenance: what the image was built from, and how. It has no time of the build. */
export function createProvenance(options: ProvenanceOptions): object {
  const { subject, name, version, platforms, created, commit, builder, materials } = options;
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name, digest: { sha256: subject.digest.slice("sha256:".length) } }],
    predicateType: PROVENANCE_TYPE,
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { command: "npm run images", version, platforms, sourceDateEpoch: created },
        resolvedDependencies: [
          ...(commit === undefined ? [] : [{ uri: "git+file:.", digest: { gitCommit: commit } }]),
          ...materials,
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}
