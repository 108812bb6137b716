/** Scripted clusters in the process of a package manager, for programs that need clusters but not their behaviour. */
import { ScriptedCrm } from "../../apps/package-manager/test/fakes/scripted-crm.ts";
import { unitOf } from "../../apps/package-manager/test/fakes/units.ts";

const METHODS = ["add", "remove", "clear", "order", "total"];

export interface LocalClusters {
  /** As the package manager reads it. */
  readonly json: string;
  close(): Promise<void>;
}

/** Starts clusters, each with units `unit-0000` and so on of another package manager. */
export async function startLocalClusters(names: readonly string[], units: number): Promise<LocalClusters> {
  const clusters = await Promise.all(names.map((name) => ScriptedCrm.start({ name })));
  const functions = METHODS.map((method) => ({ functionKey: `Cart.${method}` }));
  for (const cluster of clusters)
    for (let n = 0; n < units; n += 1)
      cluster.units.put(unitOf(`unit-${String(n).padStart(4, "0")}`, { functions, managedBy: "other" } as never));
  return {
    json: JSON.stringify(Object.fromEntries(clusters.map(({ facts: { name }, url }) => [name, { url }]))),
    close: async () => void (await Promise.all(clusters.map((cluster) => cluster.close()))),
  };
}
