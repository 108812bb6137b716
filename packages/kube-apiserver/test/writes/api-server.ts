import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import type { KubernetesUnderTest } from "@oaas/testkit";
import { isJsonObject, type JsonObject, memberOf } from "@oaas/kube-core";

/** A response of the API server. */
export interface Answer {
  readonly code: number;
  readonly body: JsonObject;
}

/** Sends a raw request and returns the raw response, without our client. */
export type SendRequest = (method: string, path: string, body?: JsonObject, contentType?: string) => Promise<Answer>;

/** Opens a connection to a server. It is reused, since handshakes would dominate the time. */
export function createSender(cluster: KubernetesUnderTest): SendRequest {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(cluster.caFile) });
  return (method, path, body, contentType = "application/json") =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${cluster.token}`, "content-type": contentType };
      const call = request(cluster.url + path, { agent, method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          resolve({ code: response.statusCode ?? 0, body: bodyOf(Buffer.concat(chunks).toString()) });
        });
      });
      call.on("error", reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

/** The object of the response; an unserved path responds with plain text. */
function bodyOf(text: string): JsonObject {
  return text.startsWith("{") ? (JSON.parse(text) as JsonObject) : { message: text };
}

/** A definition of one version with this schema. */
export function definition(plural: string, kind: string, schema: object, version: object = {}): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.probe.test` },
    spec: {
      group: "probe.test",
      scope: "Namespaced",
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    },
  } as JsonObject;
}

/** The causes of an error as sorted lines: the server visits members in random order. */
export function causesOf({ body }: Answer): readonly string[] {
  const details = memberOf(body, "details");
  const causes = isJsonObject(details) ? (memberOf(details, "causes") ?? []) : [];
  return (causes as readonly { readonly reason: string; readonly field: string; readonly message: string }[])
    .map(({ reason, field, message }) => `${reason} ${field}: ${message}`)
    .sort();
}
