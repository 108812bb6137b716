import { randomInt, type Random } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { embeddedServer, faultyApi, MemoryTransport, type Api, type Fate } from "@oaas/kube-apiserver";
import type { KubeObject } from "@oaas/kube-core";
import { Informer, KubeClient, resourceType, type ResourceClient } from "@oaas/kube-runtime";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Deployment extends KubeObject {
  readonly spec: object;
  readonly status?: { readonly readyReplicas?: number };
}

const CONFIG_MAPS = resourceType<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  resource: "configmaps",
  namespaced: true,
});
const DEPLOYMENTS = resourceType<Deployment>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  resource: "deployments",
  namespaced: true,
});

/** Everything that was asked, answered and seen, with its time. */
export type Trace = string;

/**
 * A server with simulated workloads, a client and informers in one process on virtual time, without sockets; some requests are delayed, lost or find
 * their watch cut, all by the seed.
 */
export async function runSeed(seed: number, steps = 12): Promise<Trace> {
  const ambient = virtualAmbient(seed);
  const { time, random } = ambient;
  const lines: string[] = [];
  const tell = (text: string): void => void lines.push(`${time.now()} ${text}`);
  const { server } = embeddedServer({ ...ambient, simulation: { nodes: 2 } });
  await server.start();
  const fates = faultyApi(server, ambient.timers, () => fateOf(random));
  const client = new KubeClient({ transport: new MemoryTransport(told(fates, tell)), ambient });
  const maps = client.resource(CONFIG_MAPS);
  const deployments = client.resource(DEPLOYMENTS);
  const informers = [informerOf("maps", maps, ambient, tell), informerOf("deployments", deployments, ambient, tell)];
  for (const informer of informers) informer.start();
  for (let step = 0; step < steps; step += 1) {
    void act(random, maps, deployments).catch((error: unknown) => tell(`refused: ${String(error)}`));
    await time.advance(randomInt(random, 2000));
  }
  await time.advance(30_000);
  tell(`at last ${informers.map((informer) => [...informer.cache.list()].length).join()} of ${server.store.revision}`);
  for (const informer of informers) await informer.stop();
  await client.close();
  await server.close();
  return lines.join("\n");
}

function informerOf<T extends KubeObject>(
  name: string,
  resource: ResourceClient<T>,
  ambient: ReturnType<typeof virtualAmbient>,
  tell: (text: string) => void,
): Informer<T> {
  const informer = new Informer<T>({ name, source: resource.source({ namespace: "default" }), ambient });
  informer.onChange((change) => tell(`${name} ${JSON.stringify(change)}`));
  return informer;
}

async function act(
  random: Random,
  maps: ResourceClient<ConfigMap>,
  deployments: ResourceClient<Deployment>,
): Promise<void> {
  const name = `n${randomInt(random, 5)}`;
  const key = { namespace: "default", name };
  switch (randomInt(random, 4)) {
    case 0:
      await maps.apply(
        { apiVersion: "v1", kind: "ConfigMap", metadata: key, data: { x: String(randomInt(random, 100)) } },
        { fieldManager: "seeded", force: true },
      );
      break;
    case 1:
      await maps.delete(key);
      break;
    case 2:
      await deployments.apply(deployment(name, randomInt(random, 4)), { fieldManager: "seeded", force: true });
      break;
    default:
      await deployments.delete(key);
  }
}

function deployment(name: string, replicas: number): Deployment {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace: "default", name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.test/app:1" }] } },
    },
  };
}

function fateOf(random: Random): Fate | undefined {
  const draw = random.next();
  if (draw < 0.05) return { kind: "delay", ms: randomInt(random, 500) };
  if (draw < 0.08) return { kind: "drop", when: random.next() < 0.5 ? "before" : "after" };
  if (draw < 0.12)
    return { kind: "cut", afterChunks: 1 + randomInt(random, 3), as: random.next() < 0.5 ? "lost" : "expired" };
  return undefined;
}

function told(api: Api, tell: (text: string) => void): Api {
  return {
    handle: async (request) => {
      const response = await api.handle(request).catch((error: unknown) => {
        tell(`${request.method} ${request.target} lost`);
        throw error;
      });
      const body = typeof response.body === "string" ? response.body.trim() : "…";
      tell(`${request.method} ${request.target} ${response.status} ${body}`);
      return response;
    },
  };
}
