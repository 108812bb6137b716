import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { cacheDir } from "@oaas/real-components";
import { capture, inherit } from "./command.ts";
import { ROOT } from "./root.ts";

const SCHEMATHESIS = "4.32.5";
const PROGRAM = fileURLToPath(import.meta.resolve("../../apps/package-manager/test/programs/fuzzed-pm.ts"));
const CONFIG = path.join(import.meta.dirname, "api-fuzz.toml");
/** Streams never end, so their responses cannot be checked. */
const STREAMS = "/events$";

const PHASES = "examples,coverage,fuzzing,stateful";
/** Cases per operation or scenario: about 12,000 requests in three to four minutes on two cores. */
const EXAMPLES = "100";
const SENT_EVENT = {
  type: "object",
  required: ["event", "data"],
  properties: { event: { type: "string" }, data: { type: "string" }, id: { type: "string" } },
};
/** Slow data generation depends on the machine, not on the API. */
const NOT_JUDGED = "too_slow";

/** `npm run test:api-fuzz [-- options]`: runs Schemathesis with all checks against a package manager with data. */
export async function apiFuzz(args: readonly string[]): Promise<number> {
  const schemathesis = await obtain();
  if (schemathesis === undefined) return 1;
  const token = randomUUID();
  const pm = spawn(process.execPath, [PROGRAM], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, FUZZ_TOKEN: token },
  });
  try {
    const url = await firstLine(pm.stdout);
    if (url === undefined) throw new Error("the package manager did not start");
    const size = ["--phases", PHASES, "--max-examples", EXAMPLES, "--seed", "1"];
    const own = ["--checks", "all", ...size, "--suppress-health-check", NOT_JUDGED];
    const header = ["--header", `Authorization: Bearer ${token}`];
    const where = [await documentOf(url), "--url", url];
    const left = ["--exclude-path-regex", STREAMS];
    return await inherit(schemathesis, ["--config-file", CONFIG, "run", ...where, ...own, ...left, ...header, ...args]);
  } finally {
    pm.kill("SIGTERM");
    if (pm.exitCode === null) await once(pm, "exit");
  }
}

/** Installs Schemathesis into a Python environment in the cache; undefined, with a message, if that fails. */
async function obtain(): Promise<string | undefined> {
  const folder = path.join(cacheDir(), `schemathesis-${SCHEMATHESIS}`);
  const program = path.join(folder, "bin", "schemathesis");
  if (existsSync(program)) return program;
  console.log(`Installing Schemathesis ${SCHEMATHESIS} from PyPI into ${folder}`);
  const steps = [
    ["python3", ["-m", "venv", "--clear", folder]],
    [path.join(folder, "bin", "pip"), ["install", "--quiet", `schemathesis==${SCHEMATHESIS}`]],
  ] as const;
  for (const [command, args] of steps) {
    const { exitCode, output } = await capture(command, args).catch((thrown: Error) => ({
      exitCode: 1,
      output: thrown.message,
    }));
    if (exitCode === 0) continue;
    console.error(
      `NOTHING WAS FUZZED: Schemathesis ${SCHEMATHESIS} could not be installed.\n${output}\nIt needs python3 with venv, and access to PyPI.`,
    );
    return undefined;
  }
  return program;
}

/**
 * Writes the OpenAPI document in the form that Schemathesis expects: without YAML bodies, because YAML converts plain
 * scalars to strings where the schema needs them, which would be reported as accepted invalid data; and with streams
 * described by their whole events, where our document describes the JSON in `data`.
 */
async function documentOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/openapi.json`);
  const document: unknown = JSON.parse(await answer.text(), (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if ("text/event-stream" in value) return { ...value, "text/event-stream": { schema: SENT_EVENT } };
    if (!("application/yaml" in value)) return value;
    const { "application/yaml": _yaml, ...others } = value;
    return others;
  });
  const file = path.join(mkdtempSync(path.join(tmpdir(), "oaas-api-fuzz-")), "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  return file;
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stream })) return line;
  return undefined;
}
