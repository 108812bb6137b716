import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import type { KubernetesUnderTest } from "@oaas/testkit";
import { API_VERSION, KINDS } from "../../src/crd/index.ts";

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
