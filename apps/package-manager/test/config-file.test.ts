import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { eventually, makeRunFolder, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pmCommand, runPm, type PmProcess } from "./pm-process.ts";

const text = (log: string, clusters: string, more = ""): string =>
  `log: {level: ${log}}\nserver:\n  rateLimit: 100000\n  rateBurst: 100000\n${more}crm:\n  clusters: ${clusters}\n`;
const EDGE = '{edge: {url: "http://127.0.0.1:1", labels: {env: edge}}}';
const BOTH = '{edge: {url: "http://127.0.0.1:1"}, cloud: {url: "http://127.0.0.1:2"}}';

/** Env of a process whose settings come from the file. */
const fromFile = (file: string) => ({
  OPRC_PM_CONFIG_FILE: file,
  SERVER_RATE_LIMIT: "",
  SERVER_RATE_BURST: "",
  LOG_LEVEL: "",
});

async function clustersOf(pm: PmProcess): Promise<readonly string[]> {
  const { json } = await pm.call("GET", "/api/v1/clusters");
  return (json as readonly { name: string }[]).map(({ name }) => name);
}

async function warningsOf(pm: PmProcess): Promise<readonly string[]> {
  const { json } = await pm.call("GET", "/health");
  return (json as { warnings?: readonly string[] }).warnings ?? [];
}

describe("configuration file", () => {
  let folder: RunFolder;
  beforeAll(async () => {
    folder = await makeRunFolder("pm-config-file");
  });
  afterAll(() => folder.remove());

  test("reloads clusters, limits and log level, keeps them while the file is invalid, and names what needs a restart", async () => {
    const file = path.join(folder.path, "pm.yaml");
    const replace = (content: string): void => {
      writeFileSync(`${file}.new`, content);
      renameSync(`${file}.new`, file);
    };
    replace(text("info", EDGE));
    await using pm = await runPm({ folder: folder.path, env: fromFile(file) });
    expect(await clustersOf(pm)).toEqual(["edge"]);

    replace(text("debug", BOTH, "  maxBodyBytes: 1024\n"));
    await eventually(async () => expect(await clustersOf(pm)).toEqual(["cloud", "edge"]));
    const large = await pm.call("POST", "/api/v1/packages", { body: { name: "x".repeat(2000) } });
    expect(large.status).toBe(413);
    expect(await pm.log()).toContainEqual(
      expect.objectContaining({
        message: "reloaded configuration file",
        changed: expect.arrayContaining(["SERVER_MAX_BODY_BYTES", "CRM_CLUSTERS_JSON", "LOG_LEVEL"]) as unknown,
      }),
    );

    replace("server:\n  prot: 1\n");
    await eventually(async () =>
      expect(await warningsOf(pm)).toContainEqual(expect.stringMatching(/pm\.yaml:2:3: server\.prot: is an unknown/)),
    );
    expect(await clustersOf(pm)).toEqual(["cloud", "edge"]);
    const { text: metrics } = await pm.call("GET", "/metrics");
    expect(metrics).toMatch(/^oaas_config_last_reload_successful 0$/m);

    replace(text("warn", EDGE, "  maxStreams: 7\n  workers: 1\n  grpcPort: 0\n"));
    await eventually(async () => expect(await clustersOf(pm)).toEqual(["edge"]));
    await eventually(async () =>
      expect(await warningsOf(pm)).toContainEqual(expect.stringMatching(/need a restart: GRPC_PORT$/)),
    );
    expect((await pm.call("GET", "/metrics")).text).toMatch(/^oaas_config_last_reload_successful 1$/m);
    expect(await pm.stop()).toBe(0);
  }, 120_000);

  test("follows the symbolic links of a ConfigMap volume", async () => {
    const volume = path.join(folder.path, "volume");
    const swap = (revision: string, content: string): void => {
      mkdirSync(path.join(volume, revision), { recursive: true });
      writeFileSync(path.join(volume, revision, "pm.yaml"), content);
      symlinkSync(revision, path.join(volume, "..data_tmp"));
      renameSync(path.join(volume, "..data_tmp"), path.join(volume, "..data"));
    };
    swap("..2026_1", text("info", EDGE));
    symlinkSync(path.join("..data", "pm.yaml"), path.join(volume, "pm.yaml"));
    await using pm = await runPm({ folder: folder.path, env: fromFile(path.join(volume, "pm.yaml")) });
    expect(await clustersOf(pm)).toEqual(["edge"]);
    swap("..2026_2", text("info", BOTH));
    await eventually(async () => expect(await clustersOf(pm)).toEqual(["cloud", "edge"]));
  }, 120_000);

  test("config validate reports every problem with its place, and exits with 0, 1 or 2", async () => {
    const file = path.join(folder.path, "check.yaml");
    const validate = (...args: string[]) => pmCommand(folder.path, ["config", "validate", ...args]);
    writeFileSync(file, text("info", EDGE));
    expect(await validate(file)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("is valid; it sets 4") as string,
    });
    writeFileSync(file, "server:\n  prot: 1\nstorage:\n  etcdPassword: hunter2\n");
    const failed = await validate(file);
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain(`${file}:2:3: server.prot: is an unknown setting; did you mean server.port?`);
    expect(failed.stderr).toContain(`${file}:4:3: storage.etcdPassword: is a secret`);
    expect(failed.stderr).not.toContain("hunter2");
    expect(await validate(path.join(folder.path, "none.yaml"))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("ENOENT") as string,
    });
    expect(await validate("--help")).toMatchObject({ exitCode: 0 });
    expect((await pmCommand(folder.path, ["config", "check"])).exitCode).toBe(2);
  }, 120_000);

  test("refuses to start with an invalid file", async () => {
    const file = path.join(folder.path, "start.yaml");
    writeFileSync(file, "server:\n  host: 0.0.0.0\n");
    const failed = await pmCommand(folder.path, ["--config", file]);
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain(`${file}:2:3: server.host (SERVER_HOST): is 0.0.0.0, which other hosts can reach`);
  }, 120_000);
});
