import { defineConfig, env, loggingVariables } from "@oaas/config";
import { failedPrecondition } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingLogger, createRecordingMeter } from "@oaas/observability/testing";
import { expect, test } from "vitest";
import { ConfigReloader } from "./config-reloader.ts";

const schema = defineConfig({
  title: "Example",
  prefixes: [],
  configFile: "EX_CONFIG_FILE",
  variables: {
    port: env("EX_PORT").port().default(80).doc("Port."),
    limit: env("EX_LIMIT").int({ min: 1 }).default(5).reloads().doc("Limit."),
    token: env("EX_TOKEN").string().secret().optional().reloads().doc("Token."),
    log: loggingVariables(),
  },
});

function follow(text: string) {
  const { clock, timers, time } = virtualAmbient(1);
  const files = new Map([
    ["ex.yaml", text],
    ["token", "one"],
  ]);
  const read = (path: string): string => {
    const content = files.get(path);
    if (content === undefined) throw failedPrecondition(path, `${path} is missing`);
    return content;
  };
  const { log, records } = createRecordingLogger();
  const meter = createRecordingMeter();
  const sources = { env: {}, args: [], readFile: read, file: { path: "ex.yaml", text } };
  const reloader = new ConfigReloader({ schema, sources, read, clock, timers, log, meter });
  const limits: number[] = [];
  reloader.onChange(({ limit }) => limits.push(limit));
  reloader.start();
  return {
    reloader,
    limits,
    records,
    meter,
    /** Changes the file, or removes it, and lets time pass. */
    write: async (changed: string | undefined) => {
      if (changed === undefined) files.delete("ex.yaml");
      else files.set("ex.yaml", changed);
      await time.advance(2_000);
    },
    files,
    pass: () => time.advance(10_000),
  };
}

const lines = ({ records }: ReturnType<typeof follow>) => records.map(({ level, message }) => `${level} ${message}`);

test("applies a changed file once, and names what changed", async () => {
  const example = follow("limit: 1\n");
  await example.pass();
  expect(example.limits).toEqual([]);
  await example.write("limit: 2\n");
  await example.pass();
  expect(example.limits).toEqual([2]);
  expect(example.records).toMatchObject([
    { level: "info", message: "reloaded configuration file", fields: { file: "ex.yaml", changed: ["EX_LIMIT"] } },
  ]);
  expect(example.reloader.load().limit).toBe(2);
  expect(example.reloader.warnings()).toEqual([]);
  example.reloader.close();
});

test("keeps the last valid settings while the file is invalid, and reports that once", async () => {
  const example = follow("limit: 1\n");
  await example.write("limit: none\n");
  await example.pass();
  expect(example.limits).toEqual([]);
  expect(lines(example)).toEqual(["error reload configuration file failed; keeping the last valid settings"]);
  expect(example.records[0]?.fields).toMatchObject({
    fault: { message: expect.stringContaining("ex.yaml:1:1: limit (EX_LIMIT): must be a whole number") as string },
  });
  expect(example.reloader.load().limit).toBe(1);
  expect(example.reloader.warnings()).toEqual([expect.stringContaining("ex.yaml cannot be used")]);
  expect(example.meter.value("oaas_config_last_reload_successful")).toBe(0);
  await example.write("limit: 3\n");
  expect(example.limits).toEqual([3]);
  expect(example.reloader.warnings()).toEqual([]);
  expect(example.meter.value("oaas_config_last_reload_successful")).toBe(1);
  example.reloader.close();
});

test("tolerates a file that disappears and returns unchanged", async () => {
  const example = follow("limit: 1\n");
  await example.write(undefined);
  expect(example.reloader.warnings()).toEqual([expect.stringContaining("ex.yaml is missing")]);
  await example.write("limit: 1\n");
  expect(example.reloader.warnings()).toEqual([]);
  expect(example.reloader.load().limit).toBe(1);
  example.reloader.close();
});

test("names settings that need a restart in one warning, until they are as at the start", async () => {
  const example = follow("port: 1\nlimit: 1\n");
  await example.write("port: 2\nlimit: 1\n");
  await example.write("port: 2\nlimit: 2\n");
  expect(lines(example)).toEqual([
    "info reloaded configuration file",
    "warn changed settings need a restart",
    "info reloaded configuration file",
  ]);
  expect(example.reloader.warnings()).toEqual([
    "the configuration file ex.yaml changed settings that need a restart: EX_PORT",
  ]);
  await example.write("port: 1\nlimit: 2\n");
  expect(example.reloader.warnings()).toEqual([]);
  example.reloader.close();
});

test("keeps the last valid file when a listener refuses the new one", async () => {
  const example = follow("limit: 1\n");
  example.reloader.onChange(({ limit }) => {
    if (limit > 5) throw new TypeError("too many");
  });
  await example.write("limit: 6\n");
  expect(example.reloader.load().limit).toBe(1);
  expect(example.reloader.warnings()).toEqual([expect.stringContaining("cannot be used")]);
  await example.write("limit: 5\n");
  expect(example.reloader.load().limit).toBe(5);
  example.reloader.close();
});

test("reads secret files again while the configuration file is invalid", async () => {
  const example = follow("tokenFile: token\n");
  await example.write("nonsense: 1\n");
  example.files.set("token", "two");
  expect(example.reloader.load().token).toBe("two");
  example.reloader.close();
});
