import { readdirSync } from "node:fs";
import path from "node:path";
import { startKubeTarget, type KubernetesOptions, type KubernetesUnderTest } from "@oaas/testkit";

const CRDS = path.resolve(import.meta.dirname, "..", "..", "..", "deploy", "crds");

/** The files of our kinds. */
export function crdFiles(): string[] {
  return readdirSync(CRDS).map((file) => path.join(CRDS, file));
}

/** A cluster that knows our kinds; without more, an API server alone. */
export function startClassCluster(options: KubernetesOptions = {}): Promise<KubernetesUnderTest> {
  return startKubeTarget({ crdFiles: crdFiles(), ...options });
}
