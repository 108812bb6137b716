import { readdirSync } from "node:fs";
import path from "node:path";
import { startKubeTarget, type KubernetesOptions, type KubernetesUnderTest } from "@oaas/testkit";

const CRDS = path.resolve(import.meta.dirname, "..", "..", "..", "..", "deploy", "crds");

/** The CRD files of the product. */
export function crdFiles(): string[] {
  return readdirSync(CRDS).map((file) => path.join(CRDS, file));
}

/** Starts a cluster with our CRDs; by default only an API server. */
export function startClassCluster(options: KubernetesOptions = {}): Promise<KubernetesUnderTest> {
  return startKubeTarget({ crdFiles: crdFiles(), ...options });
}
