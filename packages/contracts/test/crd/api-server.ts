import { readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { eventually, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import { API_VERSION, GROUP, KINDS } from "../../src/crd/index.ts";

const CRD_FOLDER = join(import.meta.dirname, "../../../../deploy/crds");

/** A cluster that serves the CRDs as they are committed. */
export async function startWithCrds(): Promise<KubernetesUnderTest> {
  const cluster = await startKubernetes();
  const files = readdirSync(CRD_FOLDER).flatMap((file) => ["-f", join(CRD_FOLDER, file)]);
  await succeed(cluster, ["create", "namespace", TRIAL]);
  await succeed(cluster, ["apply", "--server-side", ...files]);
  for (const { plural } of KINDS) await served(cluster, `${plural}.${GROUP}`);
  return cluster;
}

/** Waits until objects of a CRD can be made. */
export async function served(cluster: KubernetesUnderTest, crd: string): Promise<void> {
  const path = '{.status.conditions[?(@.type=="Established")].status}';
  const established = async () => (await succeed(cluster, ["get", "crd", crd, "-o", `jsonpath=${path}`])) === "True";
  await eventually(established, { what: `${crd} being served` });
}

/** kubectl that must succeed; its output. */
export async function succeed(cluster: KubernetesUnderTest, args: readonly string[], stdin?: string): Promise<string> {
  const result = await cluster.kubectl(args, stdin === undefined ? {} : { stdin });
  if (result.exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${result.stderr}`);
  return result.stdout;
}

/** What the API server answered. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & { readonly message?: string };
}

/** One connection for many requests: most of the time would otherwise go into handshakes. */
const agent = new Agent({ keepAlive: true });

/** The namespace of objects that are only tried. */
export const TRIAL = "trial";

/** Tries to create an object of ours in a dry run, as the bytes say and past kubectl, which would drop nulls and unknown fields by itself. */
export function createRaw(cluster: KubernetesUnderTest, object: string, query = ""): Promise<Answer> {
  const { kind } = JSON.parse(object) as { kind: string };
  const plural = KINDS.find((definition) => definition.kind === kind)?.plural;
  const url = `${cluster.url}/apis/${API_VERSION}/namespaces/${TRIAL}/${plural}?dryRun=All&${query}`;
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${cluster.token}`, "content-type": "application/json" };
    const call = request(url, { agent, method: "POST", headers, ca: readFileSync(cluster.caFile) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Answer["body"];
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    call.on("error", reject);
    call.end(object);
  });
}
