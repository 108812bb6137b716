import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient, resourceType, type ResourceClient } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { startKubernetes } from "@oaas/testkit";
import type { Bench } from "./harness.ts";
import { clientGo, clientNode, ours, type ClientProgram } from "./kube/client-programs.ts";
import { informerReport, type Replayed, type Results, type Synced } from "./kube/informer-report.ts";
import { configMap } from "./kube/objects.ts";
import { inTurn, runClientProgram, startRounds } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const OBJECTS = scaled(10_000);
const EVENTS = scaled(10_000);
const WARM_OBJECTS = 20;
const ROUNDS = 6;
const WRITERS = 16;
const NAMESPACE = "watched";
const WARM_NAMESPACE = "warm";

const CONFIG_MAPS = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  resource: "configmaps",
  namespaced: true,
});

/**
 * Informers on a real API server: ours, client-go and client-node in turn with the same objects, each in its own process.
 *
 * *Flow*: create the objects; each program syncs a cache in a new process, several times; then each lists and keeps the
 * resource version; then the objects are changed; then each watches from its old version, so that all changes are pending on
 * the server.
 */
export const bench: Bench = {
  name: "kube-informer",
  async run(log) {
    const programs = [ours(), await clientGo(log), await clientNode(log)] as const;
    await using cluster = await startKubernetes();
    const writer = new KubeClient({
      transport: createUndiciTransport(loadAccess({ env: {}, kubeconfig: cluster.kubeconfig }), realAmbient),
      ambient: realAmbient,
      flow: { perSecond: 1_000_000, burst: 1_000_000, inFlight: WRITERS },
    });
    const maps = writer.resource(CONFIG_MAPS);
    for (const namespace of [NAMESPACE, WARM_NAMESPACE]) {
      const created = await cluster.kubectl(["create", "namespace", namespace]);
      if (created.exitCode !== 0) throw new Error(created.stderr);
    }
    await createAll(maps, WARM_NAMESPACE, WARM_OBJECTS);
    await createAll(maps, NAMESPACE, OBJECTS);
    log(`${OBJECTS} objects are there`);
    const synced = await syncRounds(programs, cluster.kubeconfig, log);
    // The watch cache of the server keeps 75 seconds of changes. A change just before the lists keeps their version in
    // the cache.
    await changeAll(maps, WARM_NAMESPACE, WARM_OBJECTS, WARM_OBJECTS);
    const change = (): Promise<void> => changeAll(maps, NAMESPACE, OBJECTS, EVENTS);
    const replayed = await replayRounds(programs, cluster.kubeconfig, change, log);
    await writer.close();
    const resultsOf = (program: ClientProgram): Results => ({
      name: program.name,
      synced: synced.get(program) ?? [],
      replayed: replayed.get(program) ?? [],
    });
    return informerReport({
      title: `Informers with ${OBJECTS} ConfigMaps on a real API server (medians of ${ROUNDS} rounds)`,
      objects: OBJECTS,
      mine: resultsOf(programs[0]),
      clientGo: resultsOf(programs[1]),
      clientNode: resultsOf(programs[2]),
    });
  },
};

async function syncRounds(
  programs: readonly ClientProgram[],
  kubeconfig: string,
  log: (line: string) => void,
): Promise<Map<ClientProgram, Synced[]>> {
  const results = new Map<ClientProgram, Synced[]>(programs.map((program) => [program, []]));
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const program of inTurn(programs, round)) {
      const result = await runClientProgram<Synced>(program, ["sync", kubeconfig, NAMESPACE, WARM_NAMESPACE]);
      if (result.objects !== OBJECTS) throw new Error(`${program.name} has ${result.objects} objects, not ${OBJECTS}`);
      log(`round ${round}, ${program.name}: synced in ${result.ms.toFixed(0)} ms`);
      results.get(program)?.push(result);
    }
  }
  return results;
}

async function replayRounds(
  programs: readonly ClientProgram[],
  kubeconfig: string,
  change: () => Promise<void>,
  log: (line: string) => void,
): Promise<Map<ClientProgram, Replayed[]>> {
  const results = new Map<ClientProgram, Replayed[]>(programs.map((program) => [program, []]));
  await using holders = new AsyncDisposableStack();
  const runners = [];
  for (const program of programs) {
    const runner = await startRounds<Replayed>(program, ["replay", kubeconfig, NAMESPACE, String(EVENTS)]);
    runners.push(holders.use(runner));
  }
  const start = performance.now();
  await change();
  log(`${EVENTS} changes written in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const runner of inTurn(runners, round)) {
      const result = await runner.round();
      log(`round ${round}, ${runner.program.name}: ${EVENTS} events in ${result.ms.toFixed(0)} ms`);
      results.get(runner.program)?.push(result);
    }
  }
  return results;
}

function createAll(maps: ResourceClient<KubeObject>, namespace: string, count: number): Promise<void> {
  return shared(count, async (index) => void (await maps.create(configMap(namespace, index))));
}

/** Changes the objects in turn until all changes are written. */
function changeAll(
  maps: ResourceClient<KubeObject>,
  namespace: string,
  objects: number,
  changes: number,
): Promise<void> {
  return shared(changes, async (index) => {
    const { name = "" } = configMap(namespace, index % objects).metadata;
    await maps.patch({ namespace, name }, "merge", { data: { "setting-0": `change ${index}` } });
  });
}

async function shared(count: number, work: (index: number) => Promise<void>): Promise<void> {
  const indexes = Array.from({ length: count }, (_, index) => index).values();
  const worker = async (): Promise<void> => {
    for (const index of indexes) await work(index);
  };
  await Promise.all(Array.from({ length: WRITERS }, worker));
}
