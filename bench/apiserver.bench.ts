import { atOnce, Requests } from "./apiserver/requests.ts";
import { embeddedServerProcess, realServer, type MeasuredServer } from "./apiserver/targets.ts";
import type { Bench, BenchReport, Measurement, Ratio } from "./harness.ts";
import { configMap, deployments } from "./kube/objects.ts";
import { inTurn, median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const APPLIES = scaled(1_000);
const CONCURRENCY = 16;
const LISTED = scaled(10_000);
const WATCHERS = 50;
const CHANGES = scaled(300);
const ROUNDS = 5;

interface Numbers {
  readonly applies: number[];
  readonly lists: number[];
  readonly deliveries: number[];
  bytesPerObject: number;
}

/**
 * Compares the embedded API server with the real one and etcd: the same requests in turn, with the same small client.
 */
export const bench: Bench = {
  name: "apiserver",
  async run(log) {
    await using embedded = await embeddedServerProcess();
    await using real = await realServer();
    const servers = [embedded, real];
    const numbers = new Map<MeasuredServer, Numbers>(
      servers.map((server) => [server, { applies: [], lists: [], deliveries: [], bytesPerObject: 0 }]),
    );
    const each = async (
      what: string,
      round: number,
      measure: (server: MeasuredServer, into: Numbers) => Promise<void>,
    ) => {
      for (const server of inTurn(servers, round)) {
        log(`${what}, round ${round}, ${server.name}`);
        await measure(server, numbers.get(server) as Numbers);
      }
    };
    await each("memory", 1, async (server, into) => void (into.bytesPerObject = await memoryPerObject(server)));
    for (let round = 0; round <= ROUNDS; round += 1) {
      // Round 0 warms up.
      await each("applies", round, async (server, into) =>
        keep(into.applies, round, await appliesPerSecond(server, round)),
      );
      await each("lists", round, async (server, into) => keep(into.lists, round, await listMs(server)));
      await each("fan-out", round, async (server, into) =>
        keep(into.deliveries, round, await deliveriesPerSecond(server, round)),
      );
    }
    return reportOf(embedded, numbers.get(embedded) as Numbers, numbers.get(real) as Numbers);
  },
};

function keep(values: number[], round: number, value: number): void {
  if (round > 0) values.push(value);
}

/** Memory that many ConfigMaps add to the server and its store; the list benchmark uses them too. */
async function memoryPerObject(server: MeasuredServer): Promise<number> {
  const requests = new Requests(server);
  await requests.send("POST", "/api/v1/namespaces", { metadata: { name: "listed" } });
  const path = "/api/v1/namespaces/listed/configmaps";
  const before = server.memoryBytes();
  const objects = Array.from({ length: LISTED }, (_, index) => configMap("listed", index));
  await atOnce(objects, CONCURRENCY, (object) => requests.send("POST", path, object));
  const after = server.memoryBytes();
  requests.close();
  return (after - before) / LISTED;
}

async function appliesPerSecond(server: MeasuredServer, round: number): Promise<number> {
  const requests = new Requests(server);
  const namespace = `applied-${round}`;
  await requests.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const objects = deployments(namespace, "app", APPLIES);
  const begun = performance.now();
  await atOnce(objects, CONCURRENCY, (object) =>
    requests.send(
      "PATCH",
      `/apis/apps/v1/namespaces/${namespace}/deployments/${object.metadata.name ?? ""}?fieldManager=bench&force=true`,
      object,
      "application/apply-patch+yaml",
    ),
  );
  const seconds = (performance.now() - begun) / 1000;
  requests.close();
  return APPLIES / seconds;
}

async function listMs(server: MeasuredServer): Promise<number> {
  const requests = new Requests(server);
  const begun = performance.now();
  const text = await requests.send("GET", "/api/v1/namespaces/listed/configmaps");
  const ms = performance.now() - begun;
  requests.close();
  if (text.length < LISTED * 500) throw new Error("the list is incomplete");
  return ms;
}

/** Events delivered to watchers per second while one object is changed repeatedly. */
async function deliveriesPerSecond(server: MeasuredServer, round: number): Promise<number> {
  const requests = new Requests(server);
  const namespace = `watched-${round}`;
  await requests.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const watches = await Promise.all(
    Array.from({ length: WATCHERS }, () => requests.open("GET", `${path}?watch=true&resourceVersion=0`)),
  );
  const deliveries = watches.map(async (watch) => {
    let lines = 0;
    for await (const chunk of watch as AsyncIterable<Buffer>) {
      for (const byte of chunk) if (byte === 0x0a) lines += 1;
      if (lines >= CHANGES) break;
    }
    watch.destroy();
  });
  const begun = performance.now();
  const objects = Array.from({ length: CHANGES }, (_, index) => configMap(namespace, index));
  await atOnce(objects, 4, (object) => requests.send("POST", path, object));
  await Promise.all(deliveries);
  const seconds = (performance.now() - begun) / 1000;
  requests.close();
  return (CHANGES * WATCHERS) / seconds;
}

function reportOf({ readyMs = 0 }: MeasuredServer, mine: Numbers, theirs: Numbers): BenchReport {
  const rows = [
    { name: "embedded", numbers: mine },
    { name: "kube-apiserver with etcd", numbers: theirs },
  ];
  const measurements: Measurement[] = rows.flatMap(({ name, numbers }) => [
    { name: `${name}: applies`, value: median(numbers.applies), unit: "per second" },
    { name: `${name}: list of ${LISTED}`, value: median(numbers.lists), unit: "ms" },
    { name: `${name}: events to ${WATCHERS} watchers`, value: median(numbers.deliveries), unit: "per second" },
    {
      name: `${name}: memory per object`,
      value: numbers.bytesPerObject / 1024,
      unit: "KiB",
      note: "resident, all processes",
    },
  ]);
  const ratio = (name: string, value: number, explains: string): Ratio => ({ name, value, floor: 1, explains });
  return {
    title: `The embedded API server beside the real one (medians of ${ROUNDS} rounds)`,
    measurements: [...measurements, { name: "embedded: start to ready", value: readyMs, unit: "ms" }],
    ratios: [
      ratio(
        "applies, embedded / real",
        median(mine.applies) / median(theirs.applies),
        "client and server share the machine",
      ),
      ratio(`list of ${LISTED}, real / embedded`, median(theirs.lists) / median(mine.lists), "time to the last byte"),
      ratio(
        `events to ${WATCHERS} watchers, embedded / real`,
        median(mine.deliveries) / median(theirs.deliveries),
        "one change is written once",
      ),
      ratio(
        "memory per object, real / embedded",
        theirs.bytesPerObject / mine.bytesPerObject,
        "above 1 means that ours needs less",
      ),
      ratio(
        "half a second / start to ready",
        500 / readyMs,
        "from the first line of the program to an answer, modules loaded",
      ),
    ],
  };
}
