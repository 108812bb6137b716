import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { sha256 } from "../images/oci/blob.ts";
import { findNotes, releaseSection } from "../release/changelog.ts";
import { writeKubectlPlugin } from "../release/kubectl-plugin.ts";
import { isVersion, replaceVersion } from "../release/versions.ts";
import { Lockfile } from "../supply-chain/lockfile.ts";
import { bundle } from "./bundle.ts";
import { capture } from "./command.ts";
import { images } from "./images.ts";
import { ROOT } from "./root.ts";

const OPTIONS = {
  help: { type: "boolean" },
  prepare: { type: "string" },
  "dry-run": { type: "boolean" },
  out: { type: "string", default: "dist/release" },
  registry: { type: "string" },
  "signing-key": { type: "string" },
  "without-images": { type: "boolean" },
  "without-charts": { type: "boolean" },
  "without-plugin": { type: "boolean" },
  "download-url": { type: "string" },
} as const;

const HELP = `Prepares and builds a release. Nothing is uploaded.

  npm run release -- --prepare 0.2.0     write the version and its changelog section; review and commit them
  npm run release -- --dry-run           build the release in dist/release, without a tag
  npm run release                        build it from a clean tree, and create the tag

  --out FOLDER         output folder (default: dist/release)
  --registry HOST      registry in the names of the images
  --signing-key FILE   sign the images with this private key (PEM, EC P-256 or Ed25519)
  --without-images     leave out the images
  --without-charts     leave out the charts, which need Helm (on PATH, or named by HELM)
  --without-plugin     leave out the kubectl plug-in
  --download-url URL   where users will find the uploaded folder; written into the manifest of krew
`;

const NOTES = "release-notes.md";
const PLUGIN_FOLDER = "kubectl-plugin";

/** Files that contain our version. */
const VERSIONED = [
  "package.json",
  "package-lock.json",
  "{apps,packages}/*/package.json",
  "deploy/**/kustomization.yaml",
  "deploy/compose/compose.yaml",
  "deploy/charts/*/Chart.yaml",
  "apps/cli/src/root-help.cjs",
  "apps/cli/test/screens/help.txt",
  "deploy/images/Containerfile",
  "docs/guides/images.md",
  "docs/first-day.md",
];

/** `npm run release`: see the help above. */
export async function release(args: readonly string[]): Promise<number> {
  let values;
  try {
    ({ values } = parseArgs({ args: [...args], options: OPTIONS }));
  } catch (error) {
    console.error(`${(error as Error).message}\nnpm run release -- --help lists the options.`);
    return 2;
  }
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
  const changelog = readFileSync(path.join(ROOT, "CHANGELOG.md"), "utf8");
  if (values.prepare !== undefined) return prepare(version, values.prepare, changelog);

  const downloadUrl = values["download-url"];
  if (downloadUrl !== undefined && !isWebAddress(downloadUrl)) {
    console.error(`--download-url "${downloadUrl}" is not an address such as https://downloads.example/oaas/0.2.0`);
    return 2;
  }
  const tag = `v${version}`;
  const problems = await findProblems(tag, findNotes(changelog, version), changelog.includes(`## ${version} - `));
  if (problems.length > 0 && !values["dry-run"]) {
    console.error(`not released:\n  ${problems.join("\n  ")}`);
    return 1;
  }
  for (const problem of problems) console.log(`a release would be refused: ${problem}`);
  const out = path.resolve(ROOT, values.out);
  if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(path.join(out, NOTES))) {
    console.error(`--out ${values.out} has other files, which would be deleted: name an empty folder`);
    return 2;
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  writeFileSync(path.join(out, NOTES), `# OaaS ${version}\n\n${findNotes(changelog, version) ?? ""}\n`);
  await bundle([
    "--out",
    path.join(out, "programs"),
    "--only",
    "package-manager",
    "--only",
    "class-runtime-manager",
    "--only",
    "cli",
  ]);
  copyManifests(out);
  if (!values["without-charts"]) await packageCharts(out);
  if (!values["without-plugin"]) {
    await writeKubectlPlugin({
      root: ROOT,
      lockfile: Lockfile.read(ROOT),
      version,
      bundle: path.join(out, "programs", "cli.mjs"),
      out: path.join(out, PLUGIN_FOLDER),
      downloadUrl: downloadUrl && `${downloadUrl.replace(/\/+$/, "")}/${PLUGIN_FOLDER}`,
    });
    if (downloadUrl === undefined) console.log("no manifest of krew, because --download-url is not set");
  }
  if (!values["without-images"]) {
    const options = [
      ...(values.registry === undefined ? [] : ["--registry", values.registry]),
      ...(values["signing-key"] === undefined ? [] : ["--signing-key", path.resolve(ROOT, values["signing-key"])]),
    ];
    const failed = await images(["--out", path.join(out, "images"), ...options]);
    if (failed !== 0) return failed;
  }
  const count = writeChecksums(out);
  console.log(`${path.relative(ROOT, out)}/SHA256SUMS: ${count} files`);
  if (values["dry-run"]) {
    console.log(`dry run: the tag ${tag} is not created`);
    return 0;
  }
  return createTag(tag, version);
}

function prepare(from: string, to: string, changelog: string): number {
  if (!isVersion(to)) {
    console.error(`"${to}" is not a version such as 0.2.0 or 0.2.0-rc.1`);
    return 2;
  }
  const files = VERSIONED.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).toSorted();
  try {
    const today = new Date().toISOString().slice(0, 10);
    const section = releaseSection(changelog, to, today);
    for (const file of files) {
      const text = readFileSync(path.join(ROOT, file), "utf8");
      const changed = replaceVersion(file, text, from, to);
      if (changed !== text) writeFileSync(path.join(ROOT, file), changed);
    }
    writeFileSync(path.join(ROOT, "CHANGELOG.md"), section);
  } catch (error) {
    console.error((error as Error).message);
    return 1;
  }
  console.log(
    `${from} → ${to}. Next: npm run generate, review, commit "chore: release ${to}", npm run release -- --dry-run`,
  );
  return 0;
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s/?#]+[^\s?#]*$/.test(text) && URL.canParse(text);
}

/** Why this state must not be released. */
async function findProblems(tag: string, notes: string | undefined, hasSection: boolean): Promise<readonly string[]> {
  const status = await capture("git", ["status", "--porcelain"]);
  const tags = await capture("git", ["tag", "--list", tag]);
  return [
    ...(status.exitCode === 0 && status.output.trim() === "" ? [] : ["the working tree has changes: commit them"]),
    ...(tags.output.trim() === "" ? [] : [`the tag ${tag} exists: npm run release -- --prepare with the next version`]),
    ...(hasSection && notes !== undefined
      ? []
      : [`CHANGELOG.md has no section for ${tag.slice(1)}: npm run release -- --prepare`]),
  ];
}

/** Manifests that are used without a checkout. */
function copyManifests(out: string): void {
  for (const folder of ["crds", "compose", "systemd"]) {
    cpSync(path.join(ROOT, "deploy", folder), path.join(out, "manifests", folder), {
      recursive: true,
      filter: (source) => !["secrets", ".gitignore"].includes(path.basename(source)),
    });
  }
}

/** Packages the charts with Helm, because it resolves their dependencies. */
async function packageCharts(out: string): Promise<void> {
  const charts = globSync("deploy/charts/*/Chart.yaml", { cwd: ROOT }).map((file) => path.dirname(file));
  const helm = process.env["HELM"] ?? "helm";
  for (const chart of charts.toSorted()) {
    const args = ["package", chart, "--dependency-update", "--destination", path.join(out, "charts")];
    const { exitCode, output } = await capture(helm, args).catch((error: unknown) => ({
      exitCode: 1,
      output: String(error),
    }));
    if (exitCode !== 0)
      throw new Error(`${helm} package ${chart} failed: ${output}\nFix: install Helm, or set HELM to its path`);
  }
}

/** Checksums of everything except the content of image layouts, which is named by its digest. */
function writeChecksums(out: string): number {
  const files = globSync("**/*", { cwd: out, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(out, path.join(entry.parentPath, entry.name)))
    .filter((name) => !name.includes(`${path.sep}blobs${path.sep}`))
    .toSorted();
  const lines = files.map((name) => `${sha256(readFileSync(path.join(out, name)))}  ${name}\n`);
  writeFileSync(path.join(out, "SHA256SUMS"), lines.join(""));
  return files.length;
}

async function createTag(tag: string, version: string): Promise<number> {
  const { exitCode, output } = await capture("git", ["tag", "--annotate", tag, "--message", `OaaS ${version}`]);
  console.log(exitCode === 0 ? `created the tag ${tag}; push it, and upload the folder` : `git tag failed: ${output}`);
  return exitCode;
}
