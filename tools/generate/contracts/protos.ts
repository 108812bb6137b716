import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import {
  baselineText,
  grownBaseline,
  parseBaseline,
} from "../../../packages/contracts/src/grpc/descriptors/baseline.ts";
import { snapshotOf, type FileJson } from "../../../packages/contracts/src/grpc/descriptors/snapshot.ts";
import type { Generator } from "../generator.ts";

const run = promisify(execFile);

/** Packages with a `proto` folder; generated code goes to `src/gen`. */
const PACKAGES = ["packages/contracts", "packages/storage"] as const;

/** Only our own services have a baseline: storage's protos are etcd's. */
const BASELINE = { package: "packages/contracts", file: "packages/contracts/baseline/descriptors.json" } as const;

/** TypeScript from every .proto by buf and protoc-gen-es, offline, and the descriptor baseline, which may only grow. */
export const generator: Generator = {
  name: "protos",
  owns: PACKAGES.map((folder) => `${folder}/src/gen`),
  async produce(root) {
    const [baselineFile, ...packages] = await Promise.all([
      baseline(root),
      ...PACKAGES.map((folder) => generated(root, folder)),
    ]);
    return new Map([...packages.flatMap((files) => [...files]), [BASELINE.file, baselineFile]]);
  },
};

/** The package's generated files by path from the root, once its protos pass the lint rules of its buf.yaml. */
async function generated(root: string, folder: string): Promise<Map<string, string>> {
  await buf(root, ["lint", path.join(root, folder)]);
  const output = await mkdtemp(path.join(tmpdir(), "oaas-protos-"));
  try {
    await buf(root, ["generate", path.join(root, folder), "--template", template(root), "--output", output]);
    return await textFilesIn(output, `${folder}/src/gen`);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** Runs the plugin with the current Node, independent of PATH and of other installed versions. */
function template(root: string): string {
  const plugin = path.join(root, "node_modules/@bufbuild/protoc-gen-es/bin/protoc-gen-es");
  const opt = ["target=ts", "import_extension=ts", "erasable_syntax=true"];
  return JSON.stringify({ version: "v2", plugins: [{ local: [process.execPath, plugin], out: ".", opt }] });
}

async function textFilesIn(folder: string, prefix: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const texts = files.map(async (file) => {
    const name = path.relative(folder, file).replaceAll("\\", "/");
    return [`${prefix}/${name}`, await readFile(file, "utf8")] as const;
  });
  return new Map(await Promise.all(texts));
}

async function baseline(root: string): Promise<string> {
  const image = await buf(root, ["build", path.join(root, BASELINE.package), "--output", "-#format=json"]);
  const current = snapshotOf((JSON.parse(image) as { file: FileJson[] }).file);
  const stored = path.join(root, BASELINE.file);
  if (!existsSync(stored)) return baselineText(current);
  return baselineText(grownBaseline(parseBaseline(await readFile(stored, "utf8")), current));
}

/** Runs buf and returns its output. */
export async function buf(root: string, args: readonly string[]): Promise<string> {
  const command = path.join(root, "node_modules/@bufbuild/buf/bin/buf");
  try {
    const { stdout } = await run(process.execPath, [command, ...args], { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (thrown) {
    const { stdout = "", stderr = "" } = thrown as { stdout?: string; stderr?: string };
    throw new Error(`buf ${args[0]} failed:\n${stdout}${stderr}`.trim(), { cause: thrown });
  }
}
