import { failedPrecondition, Fault, type Ambient } from "@oaas/foundation";
import { KubeClient, type Transport } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { approvalText, kindChanges, type KindChange } from "../clusters/kind-changes.ts";
import type { StartCluster } from "../clusters/ports.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** "Starts" clusters that are there: connects to the contexts of a kubeconfig. Nothing of them ends with the stack. */
export function contextClusterStarter(env: Env, ambient: Ambient): StartCluster {
  return async ({ context = "" }, progress) => {
    progress.now(`connecting to ${context}`);
    const { server, connect } = way(context, env, ambient);
    return {
      url: server,
      context,
      kubeconfig: env["KUBECONFIG"] ?? "~/.kube/config",
      connect,
      onLoss: () => undefined,
      close: () => Promise.resolve(),
    };
  };
}

export interface Approval {
  readonly env: Env;
  readonly ambient: Ambient;
  /** It was said beforehand that installing is right. */
  readonly isSaid: boolean;
  /** Shows what would be done. */
  readonly show: (text: string) => void;
  /** Asks a person; undefined when there is none. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
}

/** Finds out what installing our kinds would change in these clusters and has it approved, once for all. Nothing is changed here. */
export async function approveKinds(contexts: readonly string[], approval: Approval): Promise<void> {
  const changes = new Map<string, readonly KindChange[]>();
  for (const context of contexts) changes.set(context, await changesIn(context, approval));
  const text = approvalText(changes);
  if (text === "") return;
  approval.show(text);
  if (approval.isSaid) return;
  if (approval.ask === undefined) {
    throw failedPrecondition("kinds", "installing them needs a yes, and there is nobody to ask: repeat it with --yes");
  }
  const answer = await approval.ask("Install them? [y/N] ");
  if (!/^y(?:es)?$/i.test(answer.trim()))
    throw failedPrecondition("kinds", "nothing was installed and nothing started");
}

async function changesIn(context: string, { env, ambient }: Approval): Promise<readonly KindChange[]> {
  const client = new KubeClient({
    transport: way(context, env, ambient).connect(),
    ambient,
    userAgent: "oaas-local-stack",
  });
  try {
    return await kindChanges(client);
  } catch (thrown) {
    const { message } = Fault.from(thrown);
    throw failedPrecondition(context, `the cluster of context ${context} cannot be used: ${message}`, {
      cause: thrown,
    });
  } finally {
    await client.close();
  }
}

function way(
  context: string,
  env: Env,
  ambient: Ambient,
): { readonly server: string; readonly connect: () => Transport } {
  const access = loadAccess({ env, context });
  return { server: access.server, connect: () => createUndiciTransport(access, ambient) };
}
