import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { unavailable } from "@oaas/foundation";
import { eventually, makeRunFolder, type RunFolder } from "@oaas/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { pmConfig } from "../src/config.ts";
import { ScriptedCrm, type RecordedCall } from "./fakes/scripted-crm.ts";
import { unitOf } from "./fakes/units.ts";
import { runPm, type PmProcess } from "./pm-process.ts";
import { openConnection, type RawConnection } from "./raw-connection.ts";

/** What clients see of settings before and after a change of the file. */
interface Reload {
  readonly settings: readonly string[];
  readonly observe: (pm: PmProcess, clusters: Clusters) => Promise<unknown>;
  readonly before: unknown;
  readonly after: unknown;
}

/** A change of the file. */
interface Change {
  readonly title: string;
  readonly from: string;
  readonly to: string;
  readonly reloads: readonly Reload[];
}

/** Two clusters with the same unit. */
interface Clusters {
  readonly one: ScriptedCrm;
  readonly two: ScriptedCrm;
}

/** Replaced by the addresses of the clusters. */
const ONE = "http://one";
const TWO = "http://two";
const RELOADED = "reloaded configuration file";

const CHANGES: readonly Change[] = [
  {
    title: "limits of bodies and streams, clusters and the log level",
    from: `server: {maxBodyBytes: 4096, maxStreams: 100}
crm: {clusters: {two: {url: "${TWO}"}, three: {url: "${ONE}"}}, defaultCluster: three}
log: {level: info}`,
    to: `server: {maxBodyBytes: 1024, maxStreams: 1}
crm: {clusters: {one: {url: "${ONE}"}, two: {url: "${TWO}"}, three: {url: "${ONE}"}}, defaultCluster: two}
log: {level: error}`,
    reloads: [
      { settings: ["SERVER_MAX_BODY_BYTES"], observe: (pm) => statusOfBody(pm, 2000), before: 400, after: 413 },
      {
        settings: ["SERVER_MAX_STREAMS"],
        observe: statusesOfStreams,
        before: ["200", "200"],
        after: ["200", "429"],
      },
      {
        settings: ["CRM_CLUSTERS_JSON"],
        observe: async (pm) => ((await pm.call("GET", "/api/v1/clusters")).json as { name: string }[]).length,
        before: 2,
        after: 3,
      },
      {
        settings: ["CRM_DEFAULT_CLUSTER"],
        observe: async (pm) => (await pm.call("GET", "/api/v1/class-runtimes/cart-1")).json.cluster_name as unknown,
        before: "three",
        after: "two",
      },
      {
        // The reload is logged at info, with the level of the new file.
        settings: ["LOG_LEVEL"],
        observe: async (pm) => (await pm.log()).some(({ message }) => message === RELOADED),
        before: false,
        after: false,
      },
    ],
  },
  {
    title: "the bytes of all bodies and the cluster without a name",
    from: `server: {maxBodyBytes: 4096, maxBodiesBytes: 65536}
crm: {defaultUrl: "${ONE}", defaultTimeout: 25s, defaultRetryAttempts: 1}`,
    to: `server: {maxBodyBytes: 4096, maxBodiesBytes: 8192}
crm: {defaultUrl: "${TWO}", defaultTimeout: 5s, defaultRetryAttempts: 3}`,
    reloads: [
      { settings: ["SERVER_MAX_BODIES_BYTES"], observe: statusBesideBody, before: 400, after: 429 },
      {
        settings: ["CRM_DEFAULT_URL"],
        observe: async (pm, { two }) => {
          await readTopology(pm);
          return two.calls.length > 0;
        },
        before: false,
        after: true,
      },
      {
        settings: ["CRM_DEFAULT_TIMEOUT"],
        observe: async (pm, clusters) => {
          await readTopology(pm);
          const last = callsOf(clusters, "GetTopology").at(-1);
          return last !== undefined && (last.remainingMs ?? Infinity) <= 5_000;
        },
        before: false,
        after: true,
      },
      {
        settings: ["CRM_DEFAULT_RETRY_ATTEMPTS"],
        observe: async (pm, { one, two }) => {
          for (const cluster of [one, two]) {
            cluster.heal();
            cluster.next("GetTopology", { do: "fail", fault: unavailable("cluster", "scripted") });
          }
          return readTopology(pm);
        },
        before: 503,
        after: 200,
      },
    ],
  },
  {
    title: "limits of connections and requests",
    from: "server: {maxConnections: 100, rateLimit: 0.5, rateBurst: 10000}",
    to: "server: {maxConnections: 3, rateLimit: 0.1, rateBurst: 1}",
    reloads: [
      { settings: ["SERVER_MAX_CONNECTIONS"], observe: servesFourConnections, before: true, after: false },
      {
        // With the earlier rate the next request would be allowed within two seconds.
        settings: ["SERVER_RATE_LIMIT", "SERVER_RATE_BURST"],
        observe: async (pm) => Number((await retryAfterOf(pm, 5)) ?? 0) > 2,
        before: false,
        after: true,
      },
    ],
  },
];

describe("a setting that reloads takes effect in the running package manager", () => {
  let folder: RunFolder;
  beforeAll(async () => {
    folder = await makeRunFolder("pm-reloaded-settings");
  });
  afterAll(() => folder.remove());
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  async function startClusters(): Promise<Clusters> {
    const [one, two] = [await ScriptedCrm.start({ name: "one" }), await ScriptedCrm.start({ name: "two" })];
    open.push(one, two);
    for (const { units } of [one, two]) units.put(unitOf("cart-1"));
    return { one, two };
  }

  test.each(CHANGES)(
    "$title, after an invalid file that changes nothing",
    async ({ from, to, reloads }) => {
      const clusters = await startClusters();
      const file = path.join(folder.path, "pm.yaml");
      const replace = (text: string): void => {
        writeFileSync(`${file}.new`, text.replaceAll(ONE, clusters.one.url).replaceAll(TWO, clusters.two.url));
        renameSync(`${file}.new`, file);
      };
      const expectAll = async (when: "before" | "after"): Promise<void> => {
        for (const { settings, observe, ...expected } of reloads) {
          await eventually(async () => expect(await observe(pm, clusters)).toEqual(expected[when]), {
            what: `${settings.join(", ")} ${when} the change`,
          });
        }
      };
      replace(from);
      await using pm = await runPm({
        folder: folder.path,
        env: { OPRC_PM_CONFIG_FILE: file, SERVER_RATE_LIMIT: "", SERVER_RATE_BURST: "", LOG_LEVEL: "" },
      });
      await expectAll("before");

      replace(`${to}\nunknown: 1\n`);
      await eventually(async () =>
        expect(await pm.log()).toContainEqual(
          expect.objectContaining({ message: "reload configuration file failed; keeping the last valid settings" }),
        ),
      );
      expect(await fileWarnings(pm)).toEqual([expect.stringMatching(/pm\.yaml:\d+:1: unknown: is an unknown setting/)]);
      await expectAll("before");

      replace(to);
      await eventually(async () => expect(await fileWarnings(pm)).toEqual([]));
      await expectAll("after");
    },
    240_000,
  );

  test("every setting that the reference marks as reloaded is in a change", () => {
    const reloading = pmConfig.variables.filter(({ at }) => at.reloads).map(({ at }) => at.name);
    const changed = CHANGES.flatMap(({ reloads }) => reloads.flatMap(({ settings }) => settings));
    expect(changed.toSorted()).toEqual(reloading.toSorted());
  });
});

async function fileWarnings(pm: PmProcess): Promise<readonly string[]> {
  const { warnings } = (await pm.call("GET", "/health")).json as { readonly warnings: readonly string[] };
  return warnings.filter((text) => text.includes("pm.yaml"));
}

function callsOf({ one, two }: Clusters, method: string): readonly RecordedCall[] {
  return [...one.calls, ...two.calls].filter((call) => call.method === method);
}

/** Calls the cluster. */
async function readTopology(pm: PmProcess): Promise<number> {
  return (await pm.call("GET", "/api/v1/topology?source=zenoh")).status;
}

async function statusOfBody(pm: PmProcess, bytes: number): Promise<number> {
  return (await pm.call("POST", "/api/v1/packages", { body: { name: "x".repeat(bytes) } })).status;
}

/** The status of a request while the body of another one is incomplete. */
async function statusBesideBody(pm: PmProcess): Promise<number> {
  const head = "POST /api/v1/packages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
  const port = Number(new URL(pm.url).port);
  const held = await openConnection(port, `${head}expect: 100-continue\r\ncontent-length: 3000\r\n\r\n`);
  await eventually(() => held.received() !== "");
  const status = await statusOfBody(pm, 2000);
  held.socket.destroy();
  return status;
}

/** Whether four connections are served while all are open. */
async function servesFourConnections(pm: PmProcess): Promise<boolean> {
  const port = Number(new URL(pm.url).port);
  const connections: RawConnection[] = [];
  for (let count = 0; count < 4; count += 1) {
    connections.push(await openConnection(port, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"));
  }
  const served = connections.map(async ({ closed, received }) => {
    const answered = eventually(() => received().includes("\r\n\r\n"));
    return Promise.race([answered.then(() => true), closed.then(() => false)]);
  });
  const all = (await Promise.all(served)).every(Boolean);
  for (const { socket } of connections) socket.destroy();
  return all;
}

/** The statuses of two event streams that are open at the same time. */
async function statusesOfStreams(pm: PmProcess): Promise<readonly string[]> {
  const port = Number(new URL(pm.url).port);
  const streams = [];
  for (let count = 0; count < 2; count += 1) {
    const stream = await openConnection(port, "GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await eventually(() => stream.received().includes("\r\n\r\n"));
    streams.push(stream);
  }
  const statuses = streams.map(({ received }) => received().split(" ")[1] ?? "");
  for (const { socket } of streams) socket.destroy();
  return statuses;
}

/** Retry-After of a rejected request among several; undefined if none was rejected. */
async function retryAfterOf(pm: PmProcess, requests: number): Promise<string | undefined> {
  const answers = [];
  for (let count = 0; count < requests; count += 1) answers.push(await pm.call("GET", "/api/v1/packages"));
  return answers.find(({ status }) => status === 429)?.headers.get("retry-after") ?? undefined;
}
