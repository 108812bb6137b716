/** A package and a deployment of one of its classes, as request bodies. */
export interface Example {
  readonly package: Readonly<Record<string, unknown>>;
  readonly deployment: Readonly<Record<string, unknown>>;
  /** Deploys to all clusters instead of the targets in the deployment. */
  readonly inAllClusters?: boolean;
}

/** Targets the examples at these clusters and omits those that need a missing cluster. */
export function selectExamples(examples: readonly Example[], clusters: readonly string[]): readonly Example[] {
  return examples.flatMap((example) => {
    const { deployment, inAllClusters: isEverywhere = false } = example;
    if (isEverywhere) return [{ ...example, deployment: { ...deployment, target_clusters: clusters } }];
    const targets = deployment["target_clusters"] as readonly string[];
    return targets.every((name) => clusters.includes(name)) ? [example] : [];
  });
}
