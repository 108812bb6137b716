import type { Newcomer } from "./newcomer.ts";

/** What kubectl shows of one class runtime: replicas of its functions, images and phase. */
export interface ClassObjects {
  readonly cluster: string;
  readonly name: string;
  readonly phase: string;
  readonly desired: number;
  readonly ready: number;
  readonly images: readonly string[];
}

interface ObjectList<T> {
  readonly items: readonly (T & { readonly metadata: { readonly name: string; readonly labels?: Labels } })[];
}
type Labels = Readonly<Record<string, string>>;

interface Workload {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  readonly status?: { readonly readyReplicas?: number };
}

/** Reads the class runtimes of a deployment and the Deployments of their functions from each cluster. */
export async function readClassObjects(
  me: Newcomer,
  clusters: readonly string[],
  deployment: string,
): Promise<readonly ClassObjects[]> {
  const found = await Promise.all(
    clusters.map(async (cluster) => {
      const [classes, workloads] = (await Promise.all([
        me.kubectl(cluster, "get", "classruntimes"),
        me.kubectl(cluster, "get", "deployments", "-l", "oaas.io/owner,oaas.io/component=function"),
      ])) as [ObjectList<{ readonly status?: { readonly phase?: string } }>, ObjectList<Workload>];
      return classes.items
        .filter(({ metadata }) => metadata.name.startsWith(`${deployment}-${cluster}-`))
        .map(({ metadata, status }): ClassObjects => {
          const own = workloads.items.filter(({ metadata: { labels } }) => labels?.["oaas.io/owner"] === metadata.name);
          return {
            cluster,
            name: metadata.name,
            phase: status?.phase ?? "",
            desired: sum(own.map(({ spec }) => spec.replicas)),
            ready: sum(own.map((workload) => workload.status?.readyReplicas ?? 0)),
            images: own.flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image)).toSorted(),
          };
        });
    }),
  );
  return found.flat();
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
