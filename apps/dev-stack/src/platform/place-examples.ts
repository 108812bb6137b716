import type { Example } from "./ports.ts";

/** The examples as they are deployed over these clusters; one that names a cluster that is not there is left out. */
export function placeExamples(examples: readonly Example[], clusters: readonly string[]): readonly Example[] {
  return examples.flatMap((example) => {
    const { deployment, isEverywhere = false } = example;
    if (isEverywhere) return [{ ...example, deployment: { ...deployment, target_clusters: clusters } }];
    const named = deployment["target_clusters"] as readonly string[];
    return named.every((name) => clusters.includes(name)) ? [example] : [];
  });
}
