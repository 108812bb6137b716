import { UsageError } from "../exit-code.ts";
import type { ProcessEnvironment } from "../process-environment.ts";
import { DEFAULT_CONTEXTS, parseUrl, type Context, type Contexts } from "./context.ts";

/** The path of the contexts file: OAAS_CONFIG, or a file in the home folder. */
export function contextsPath({ env, home }: Pick<ProcessEnvironment, "env" | "home">): string {
  const file = env["OAAS_CONFIG"] ?? "";
  return file === "" ? `${home}/.oaas/config.yaml` : file;
}

export async function readContexts(environment: ProcessEnvironment): Promise<Contexts> {
  const file = contextsPath(environment);
  const text = await environment.files.read(file);
  if (text === undefined) return DEFAULT_CONTEXTS;
  // The YAML parser loads only if there is a file.
  const { parseContexts } = await import("./contexts-file.ts");
  const contexts = parseContexts(text, file);
  const hasToken = [...contexts.byName.values()].some(({ token }) => token !== undefined);
  if (hasToken && !(await environment.files.isOwnerOnly(file)))
    environment.terminal.err(`warning: other users can read the tokens in ${file}\n  hint: chmod 600 ${file}\n`);
  return contexts;
}

/** Writes the contexts file with mode 0600, because it contains tokens. */
export async function writeContexts(environment: ProcessEnvironment, contexts: Contexts): Promise<void> {
  const { contextsText } = await import("./contexts-file.ts");
  await environment.files.writePrivate(contextsPath(environment), contextsText(contexts));
}

export interface SelectedContext extends Context {
  readonly name: string;
}

/** The context to use: the flag, then the environment variables, then the current context of the file. */
export async function selectContext(
  environment: ProcessEnvironment,
  requested: string | undefined,
): Promise<SelectedContext> {
  const { env } = environment;
  const url = env["OAAS_PM_URL"] ?? "";
  const token = env["OAAS_TOKEN"] ?? "";
  const withToken = (context: SelectedContext): SelectedContext => (token === "" ? context : { ...context, token });
  if (requested === undefined && url !== "")
    return withToken({ name: "OAAS_PM_URL", pmUrl: parseUrl(url, "OAAS_PM_URL") });
  const { current, byName } = await readContexts(environment);
  const name = requested ?? (env["OAAS_CONTEXT"] || current);
  const context = byName.get(name);
  if (!context) {
    throw new UsageError(
      `context "${name}" does not exist`,
      `use one of ${[...byName.keys()].join(", ")}, or add it: oaas login --name ${name} URL`,
    );
  }
  return withToken({ name, ...context });
}
