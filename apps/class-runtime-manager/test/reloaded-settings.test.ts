import { renameSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect, type ClientHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { DeploymentService } from "@oaas/contracts/grpc";
import { describeOnTarget, eventually, makeRunFolder, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crmConfig } from "../src/config.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";
import { startFakePackageManager, type FakePackageManager } from "./support/fake-package-manager.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

const NAMESPACE = "classes";
const RELOADED = "reloaded configuration file";

/** The peers of the manager, which record the credentials that they receive. */
interface Peers {
  readonly manager: ManagerProcess;
  readonly packageManager: FakePackageManager;
  readonly prometheus: RecordingPrometheus;
}

interface Reload {
  readonly setting: string;
  readonly observe: (peers: Peers) => unknown;
  readonly before: unknown;
  readonly after: unknown;
}

interface Change {
  readonly title: string;
  /** The file; `{file:TEXT}` is replaced by a file with that text, and the addresses by those of the peers. */
  readonly from: string;
  readonly to: string;
  readonly reloads: readonly Reload[];
}

const PROMETHEUS = "http://prometheus";
const PACKAGE_MANAGER = "http://package-manager";
const COMMON = `k8s: {namespaces: [${NAMESPACE}]}\nanalyzer: {interval: 1s}\n`;

const CHANGES: readonly Change[] = [
  {
    title: "limits of callers, tokens and the log level",
    from: `${COMMON}limits: {watchers: 400, requestBytes: 64MiB}
security: {tokensFile: "{file:one-s3cret,shared-s3cret}"}
prometheus: {url: "${PROMETHEUS}", tokenFile: "{file:prom-one}"}
pm: {url: "${PACKAGE_MANAGER}", tokenFile: "{file:pm-one}"}
log: {level: info}`,
    to: `${COMMON}limits: {watchers: 4, requestBytes: 8MiB}
security: {tokensFile: "{file:two-s3cret,shared-s3cret}"}
prometheus: {url: "${PROMETHEUS}", tokenFile: "{file:prom-two}"}
pm: {url: "${PACKAGE_MANAGER}", tokenFile: "{file:pm-two}"}
log: {level: error}`,
    reloads: [
      { setting: "OPRC_CRM_SECURITY_TOKEN", observe: acceptedToken, before: "one-s3cret", after: "two-s3cret" },
      {
        // One caller holds at most a quarter of them.
        setting: "OPRC_CRM_LIMITS_WATCHERS",
        observe: ({ manager }) => besideWatch(manager, (signal) => openWatch(manager, signal)),
        before: undefined,
        after: "resource-exhausted",
      },
      {
        setting: "OPRC_CRM_LIMITS_REQUEST_BYTES",
        observe: ({ manager }) => holdsThreeRequests(manager, 3_900_000),
        before: true,
        after: false,
      },
      {
        setting: "OPRC_CRM_PROM_TOKEN",
        observe: ({ prometheus }) => prometheus.authorization,
        before: "Bearer prom-one",
        after: "Bearer prom-two",
      },
      {
        setting: "OPRC_CRM_PM_TOKEN",
        observe: ({ packageManager }) => packageManager.calls.at(-1)?.header("authorization"),
        before: "Bearer pm-one",
        after: "Bearer pm-two",
      },
      {
        // The reload is logged at info, with the level of the new file.
        setting: "LOG_LEVEL",
        observe: async ({ manager }) => (await manager.log()).some(({ message }) => message === RELOADED),
        before: false,
        after: false,
      },
    ],
  },
  {
    title: "the calls of a caller and the password for Prometheus",
    from: `${COMMON}limits: {callsPerCaller: 400}
prometheus: {url: "${PROMETHEUS}", username: crm, passwordFile: "{file:pass-one}"}`,
    to: `${COMMON}limits: {callsPerCaller: 1}
prometheus: {url: "${PROMETHEUS}", username: crm, passwordFile: "{file:pass-two}"}`,
    reloads: [
      {
        setting: "OPRC_CRM_LIMITS_CALLS_PER_CALLER",
        observe: ({ manager }) => besideWatch(manager, () => listClasses(manager)),
        before: undefined,
        after: "resource-exhausted",
      },
      {
        setting: "OPRC_CRM_PROM_PASSWORD",
        observe: ({ prometheus }) => prometheus.authorization,
        before: basic("crm:pass-one"),
        after: basic("crm:pass-two"),
      },
    ],
  },
];

/** Their effect is in enforcement-process.test.ts. */
const OF_ENFORCEMENT = [
  "OPRC_CRM_ENFORCEMENT_STABILITY_SECS",
  "OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS",
  "OPRC_CRM_ENFORCEMENT_MAX_REPLICA_DELTA",
  "OPRC_CRM_ENFORCEMENT_FREEZE",
  "OPRC_CRM_ENFORCEMENT_ACTIONS_PER_MINUTE",
];

describeOnTarget("a setting that reloads takes effect in the running manager", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let folder: RunFolder;
  let prometheus: RecordingPrometheus;
  let packageManager: FakePackageManager;
  beforeAll(async () => {
    [fixture, prometheus, packageManager] = await Promise.all([
      ControllerFixture.start(),
      startRecordingPrometheus(),
      startFakePackageManager(),
    ]);
    folder = await makeRunFolder("crm-reloaded-settings");
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    const nfr_requirements = { min_throughput_rps: 30 };
    await fixture.apply(NAMESPACE, classManifest("web", { nfr_requirements }));
  }, 300_000);
  afterAll(async () => {
    await packageManager.close();
    await prometheus.close();
    await fixture.close();
    await folder.remove();
  });

  const file = (name: string): string => path.join(folder.path, name);
  const expand = (text: string): string =>
    text
      .replaceAll(/\{file:(?<text>[^}]+)\}/g, (_, secret: string) => {
        const place = file(secret.replaceAll(",", "-"));
        writeFileSync(place, `${secret.replaceAll(",", "\n")}\n`);
        return place;
      })
      .replaceAll(PROMETHEUS, prometheus.url)
      .replaceAll(PACKAGE_MANAGER, `http://127.0.0.1:${packageManager.port}`);

  test.each(CHANGES)(
    "$title, after an invalid file that changes nothing",
    async ({ from, to, reloads }) => {
      const replace = (text: string): void => {
        writeFileSync(file("crm.yaml.new"), expand(text));
        renameSync(file("crm.yaml.new"), file("crm.yaml"));
      };
      replace(from);
      const env = { OPRC_CRM_CONFIG_FILE: file("crm.yaml"), LOG_LEVEL: "" };
      const manager = await startManagerProcess(fixture.cluster.kubeconfig, folder.path, env);
      try {
        const peers = { manager, packageManager, prometheus };
        const expectAll = async (when: "before" | "after"): Promise<void> => {
          for (const { setting, observe, ...expected } of reloads) {
            await eventually(async () => expect(await observe(peers)).toEqual(expected[when]), {
              timeoutMs: 90_000,
              what: `${setting} ${when} the change`,
            });
          }
        };
        const warnings = async (): Promise<readonly string[]> =>
          ((await (await fetch(`http://127.0.0.1:${manager.port}/readyz`)).json()) as { warnings: string[] }).warnings;
        await expectAll("before");

        replace(`${to}\nunknown: 1\n`);
        await eventually(async () =>
          expect(await warnings()).toContainEqual(
            expect.stringMatching(/crm\.yaml:\d+:1: unknown: is an unknown setting.*/),
          ),
        );
        await expectAll("before");

        replace(to);
        await eventually(async () =>
          expect((await warnings()).filter((text) => text.includes("crm.yaml"))).toEqual([]),
        );
        await expectAll("after");
      } finally {
        await manager.stop();
      }
    },
    300_000,
  );

  test("every setting that the reference marks as reloaded is in a change", () => {
    const reloading = crmConfig.variables.filter(({ at }) => at.reloads).map(({ at }) => at.name);
    const changed = CHANGES.flatMap(({ reloads }) => reloads.map(({ setting }) => setting));
    expect([...changed, ...OF_ENFORCEMENT].toSorted()).toEqual(reloading.toSorted());
  });
});

const AUTHORIZATION = { authorization: "Bearer shared-s3cret" };

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString("base64")}`;
}

async function acceptedToken({ manager }: Peers): Promise<string | undefined> {
  for (const token of ["one-s3cret", "two-s3cret"]) {
    const headers = { authorization: `Bearer ${token}` };
    const kind = await manager.channel
      .client(DeploymentService)
      .listClassRuntimes({}, { headers })
      .then(() => "accepted", faultKind);
    if (kind === "accepted") return token;
  }
  return undefined;
}

async function listClasses({ channel }: ManagerProcess): Promise<unknown> {
  return channel.client(DeploymentService).listClassRuntimes({}, { headers: AUTHORIZATION });
}

/** Waits for the first event of a watch, which stays open until the signal. */
async function openWatch({ channel }: ManagerProcess, signal: AbortSignal): Promise<unknown> {
  const options = { headers: AUTHORIZATION, signal };
  const events = channel.client(DeploymentService).watchClassRuntimes({ namespace: NAMESPACE }, options);
  return events[Symbol.asyncIterator]().next();
}

/** The kind of the fault of a call while the caller holds a watch; undefined if it succeeds. */
async function besideWatch(
  manager: ManagerProcess,
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<string | undefined> {
  const end = new AbortController();
  try {
    await openWatch(manager, end.signal);
    return await call(end.signal).then(() => undefined, faultKind);
  } finally {
    end.abort();
  }
}

function faultKind(thrown: unknown): string {
  return (thrown as { readonly kind?: string }).kind ?? String(thrown);
}

/** Whether three incomplete requests are read at the same time. */
async function holdsThreeRequests({ port }: ManagerProcess, bytes: number): Promise<boolean> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  const headers = {
    ...AUTHORIZATION,
    ":method": "POST",
    ":path": `/${DeploymentService.typeName}/Deploy`,
    "content-type": "application/grpc",
    te: "trailers",
  };
  const send = (): Promise<boolean> => {
    const stream: ClientHttp2Stream = session.request(headers, { endStream: false });
    stream.on("error", () => undefined).resume();
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes + 1, 1);
    // Flow control delays the end of the write until the server has read it.
    return new Promise((resolve) => {
      stream.once("close", () => resolve(false));
      stream.write(Buffer.concat([head, Buffer.alloc(bytes)]), () => resolve(true));
    });
  };
  const held = await Promise.all([send(), send(), send()]);
  session.destroy();
  return held.every(Boolean);
}

/** An empty Prometheus that records the credentials of the last query. */
interface RecordingPrometheus {
  readonly url: string;
  readonly authorization: string | undefined;
  close(): Promise<void>;
}

async function startRecordingPrometheus(): Promise<RecordingPrometheus> {
  let authorization: string | undefined;
  const server: Server = createServer((request, response) => {
    authorization = request.headers.authorization;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result: [] } }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get authorization() {
      return authorization;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
