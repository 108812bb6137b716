import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { KubernetesUnderTest } from "@oaas/testkit";
import { parseAllDocuments } from "yaml";
import type { Manifest } from "./installed-pods.ts";

const DEPLOY = path.resolve(import.meta.dirname, "..", "..", "..", "deploy");

/** The objects of a YAML text. */
export function manifestsOf(yaml: string): readonly Manifest[] {
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** Folders of `deploy/`, and ConfigMaps that the overlay of a user creates. */
export interface Overlay {
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly settings?: Readonly<Record<string, readonly string[]>>;
}

/** The output of kubectl kustomize for folders of `deploy/`. */
export async function kustomize(
  { kubectl }: Pick<KubernetesUnderTest, "kubectl">,
  folder: string,
  { resources, components = [], settings = {} }: Overlay,
): Promise<string> {
  const place = path.join(folder, `kustomize-${crypto.randomUUID()}`);
  await mkdir(place);
  const inDeploy = (name: string): string => path.relative(place, path.join(DEPLOY, name));
  const kustomization = {
    namespace: "oaas-system",
    resources: resources.map(inDeploy),
    components: components.map(inDeploy),
    configMapGenerator: Object.entries(settings).map(([name, literals]) => ({ name, literals })),
  };
  await writeFile(path.join(place, "kustomization.yaml"), JSON.stringify(kustomization));
  const { stdout, stderr, exitCode } = await kubectl(["kustomize", "--load-restrictor=LoadRestrictionsNone", place]);
  if (exitCode !== 0) throw new Error(stderr);
  return stdout;
}
