import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { componentFile, runCommand, type CommandResult } from "@oaas/testkit";

export const CHARTS = path.resolve(import.meta.dirname, "..", "..", "..", "deploy", "charts");
export const EXAMPLES = path.join(CHARTS, "examples");
export const CHART_NAMES = [
  "oaas-crds",
  "oaas-class-runtime-manager",
  "oaas-package-manager",
  "oaas-data-plane",
  "oaas",
] as const;

/** Without a golden file of their defaults: one is what `deploy/crds` has, the other needs the names of images. */
const WITHOUT_DEFAULTS: ReadonlySet<string> = new Set(["oaas-crds", "oaas-data-plane"]);

/** Helm with its own folders, so that it does not touch those of the user. */
export class Helm {
  readonly #folder: string;
  readonly #kubeconfig: string | undefined;

  constructor(folder: string, kubeconfig?: string) {
    this.#folder = folder;
    this.#kubeconfig = kubeconfig;
  }

  /** Does not throw if Helm fails: check `exitCode`. */
  run(...args: readonly string[]): Promise<CommandResult> {
    return this.#run(componentFile("helm"), args, {});
  }

  /** Runs a script of a shell in which `helm` and `kubectl` are commands, beside the folder `deploy`. */
  shell(script: string): Promise<CommandResult> {
    const folders = (["helm", "kubectl"] as const).map((command) => path.dirname(componentFile(command)));
    return this.#run("sh", ["-ec", script], { PATH: [...folders, process.env["PATH"]].join(":") });
  }

  #run(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandResult> {
    const at = (name: string): string => path.join(this.#folder, name);
    return runCommand(command, args, {
      cwd: this.#folder,
      timeoutMs: 300_000,
      env: {
        ...env,
        HOME: this.#folder,
        HELM_CACHE_HOME: at("cache"),
        HELM_CONFIG_HOME: at("config"),
        HELM_DATA_HOME: at("data"),
        ...(this.#kubeconfig === undefined ? {} : { KUBECONFIG: this.#kubeconfig }),
      },
    });
  }

  /** Returns the standard output; throws if Helm fails. */
  async call(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitCode } = await this.run(...args);
    if (exitCode !== 0) throw new Error(`helm ${args.join(" ")}: ${stderr.trim()}`);
    return stdout;
  }

  /** Copies the charts, and builds the dependencies of the umbrella there. Returns the folder. */
  async copyCharts(): Promise<string> {
    const folder = path.join(this.#folder, "deploy", "charts");
    await mkdir(folder, { recursive: true });
    for (const name of CHART_NAMES) await cp(path.join(CHARTS, name), path.join(folder, name), { recursive: true });
    for (const leftOver of ["charts", "Chart.lock"])
      await rm(path.join(folder, "oaas", leftOver), { recursive: true, force: true });
    await this.call("dependency", "build", path.join(folder, "oaas"));
    return folder;
  }

  /** Gives the copied charts another version, as a release does, and builds the dependencies of the umbrella again. */
  async setVersion(charts: string, from: string, to: string): Promise<void> {
    for (const name of CHART_NAMES) {
      const file = path.join(charts, name, "Chart.yaml");
      await writeFile(file, (await readFile(file, "utf8")).replaceAll(from, to));
    }
    await rm(path.join(charts, "oaas", "charts"), { recursive: true });
    await rm(path.join(charts, "oaas", "Chart.lock"));
    await this.call("dependency", "build", path.join(charts, "oaas"));
  }
}

/** A documented installation: a chart with a values file. */
export interface Example {
  readonly name: string;
  readonly chart: string;
  readonly values: string | undefined;
}

/** All charts that install with their default values, and all example values files. */
export async function documentedExamples(): Promise<readonly Example[]> {
  const files = (await readdir(EXAMPLES)).filter((file) => file.endsWith(".yaml"));
  const longestFirst = CHART_NAMES.toSorted((a, b) => b.length - a.length);
  return [
    ...CHART_NAMES.filter((chart) => !WITHOUT_DEFAULTS.has(chart)).map((chart) => ({
      name: chart,
      chart,
      values: undefined,
    })),
    ...files.map((file) => {
      const chart = longestFirst.find((name) => file.startsWith(name));
      if (chart === undefined) throw new RangeError(`${file} does not begin with the name of a chart`);
      return { name: path.basename(file, ".yaml"), chart, values: path.join(EXAMPLES, file) };
    }),
  ];
}

const GOLDEN_TOKEN = "golden-token";

/** The output with a fixed token instead of the one that Helm creates for each rendering, and without the version. */
export function comparable(rendered: string, version: string): string {
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return rendered
    .replaceAll(version, "VERSION")
    .replaceAll(/^ {2}token: .*$/gm, `  token: ${base64(GOLDEN_TOKEN)}`)
    .replaceAll(/^ {2}tokens: .*$/gm, `  tokens: ${base64(`admin:admin:${sha256(GOLDEN_TOKEN)}\n`)}`);
}
