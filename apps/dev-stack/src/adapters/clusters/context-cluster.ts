import { failedPrecondition, Fault, type Ambient } from "@oaas/foundation";
import { KubeClient, type Transport } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { approvalText, findCrdChanges, type CrdChange } from "../../clusters/crd-changes.ts";
import type { StartCluster } from "../../clusters/ports.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Connects to existing clusters by kubeconfig context. They keep running when the stack stops. */
export function createContextClusterStarter(env: Env, ambient: Ambient): StartCluster {
  return async ({ context = "" }, progress) => {
    progress.step(`connecting to ${context}`);
    const { server, connect } = accessContext(context, env, ambient);
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
  /** Whether `--yes` was given. */
  readonly isConfirmed: boolean;
  readonly show: (text: string) => void;
  /** Prompts the user; undefined without a terminal. */
  readonly prompt: ((question: string) => Promise<string>) | undefined;
}

/** Shows the CRD changes in all clusters and asks for one confirmation. Changes nothing itself. */
export async function approveCrds(contexts: readonly string[], approval: Approval): Promise<void> {
  const changes = new Map<string, readonly CrdChange[]>();
  for (const context of contexts) changes.set(context, await readChanges(context, approval));
  const text = approvalText(changes);
  if (text === "") return;
  approval.show(text);
  if (approval.isConfirmed) return;
  if (approval.prompt === undefined) {
    throw failedPrecondition(
      "kinds",
      "installing CRDs needs confirmation, and standard input is not a terminal: repeat the command with --yes",
    );
  }
  const answer = await approval.prompt("Install them? [y/N] ");
  if (!/^y(?:es)?$/i.test(answer.trim()))
    throw failedPrecondition("kinds", "cancelled: nothing was installed or started");
}

async function readChanges(context: string, { env, ambient }: Approval): Promise<readonly CrdChange[]> {
  const client = new KubeClient({
    transport: accessContext(context, env, ambient).connect(),
    ambient,
    userAgent: "oaas-local-stack",
  });
  try {
    return await findCrdChanges(client);
  } catch (thrown) {
    const { message } = Fault.from(thrown);
    throw failedPrecondition(context, `cannot use the cluster of context ${context}: ${message}`, {
      cause: thrown,
    });
  } finally {
    await client.close();
  }
}

function accessContext(
  context: string,
  env: Env,
  ambient: Ambient,
): { readonly server: string; readonly connect: () => Transport } {
  const access = loadAccess({ env, context });
  return { server: access.server, connect: () => createUndiciTransport(access, ambient) };
}
