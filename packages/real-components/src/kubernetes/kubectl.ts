import { internal } from "@oaas/foundation";
import { componentFile } from "../components/cache/component-file.ts";
import { eventually } from "../process/eventually.ts";
import { runCommand, type CommandOptions, type CommandResult } from "../process/client-command.ts";

/** Runs kubectl as the administrator. Does not throw if kubectl fails: check `exitCode`. */
export type Kubectl = (
  args: readonly string[],
  options?: Pick<CommandOptions, "stdin" | "timeoutMs">,
) => Promise<CommandResult>;

/** Longer than any `--timeout` in use, because test machines may be slow. */
const TIMEOUT_MS = 180_000;

/** A kubectl for one cluster, with its caches in the cluster's folder. */
export function kubectlFor(kubeconfig: string, folder: string): Kubectl {
  const command = componentFile("kubectl");
  return (args, options = {}) =>
    runCommand(command, args, {
      timeoutMs: TIMEOUT_MS,
      ...options,
      cwd: folder,
      env: { KUBECONFIG: kubeconfig, HOME: folder },
    });
}

/** Applies CRD files and waits until each is served. */
export async function applyCrds(kubectl: Kubectl, files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  const named = files.flatMap((file) => ["-f", file]);
  await runOrThrow(kubectl, ["apply", "--server-side", ...named]);
  // kubectl wait fails while the object has no conditions, so it may need a retry.
  const served = async (): Promise<boolean> =>
    (await kubectl(["wait", "--for=condition=Established", "--timeout=10s", ...named])).exitCode === 0;
  await eventually(served, { what: `${files.join(", ")} being served` });
}

async function runOrThrow(kubectl: Kubectl, args: readonly string[]): Promise<void> {
  const result = await kubectl(args);
  if (result.exitCode !== 0) throw internal(`kubectl ${args.join(" ")}: ${result.stderr.trim()}`);
}
