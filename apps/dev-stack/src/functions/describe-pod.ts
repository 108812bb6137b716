interface PodObject {
  readonly metadata: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The facts about a function's pod that its simulated response shows. `pods` are those of its namespace. */
export function describePod(
  pod: PodObject,
  cluster: string,
  pods: readonly object[],
): Readonly<Record<string, string>> {
  const { labels = {}, name } = pod.metadata;
  const owner = labels["oaas.io/owner"];
  const fn = labels["oaas.io/function"];
  const className = labels["oaas.io/class"];
  const replicas = (pods as readonly PodObject[]).filter(
    ({ metadata }) => metadata.labels?.["oaas.io/owner"] === owner && metadata.labels?.["oaas.io/function"] === fn,
  );
  const position = replicas
    .map(({ metadata }) => metadata.name ?? "")
    .toSorted()
    .indexOf(name ?? "");
  return {
    cluster,
    ...(className === undefined ? {} : { class: className }),
    ...(fn === undefined ? {} : { function: fn }),
    ...(owner === undefined ? {} : { replica: `${position + 1} of ${replicas.length}` }),
  };
}
