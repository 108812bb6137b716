import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import type { JsonObject } from "@oaas/kube-core";

/** A response of the real server. */
export interface Answer {
  readonly code: number;
  readonly body: JsonObject;
}

export interface RequestOptions {
  readonly body?: JsonObject;
  readonly contentType?: string;
  readonly accept?: string;
  readonly token?: string;
}

/** Sends a raw request and returns the raw response, without our client. */
export type SendRequest = (method: string, path: string, options?: RequestOptions) => Promise<Answer>;

/** Opens a connection to a real server. It is reused, since handshakes would dominate the time. */
export function createRecorder(cluster: {
  readonly url: string;
  readonly token: string;
  readonly caFile: string;
}): SendRequest {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(cluster.caFile) });
  return (method, path, options = {}) =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${options.token ?? cluster.token}`,
        "content-type": options.contentType ?? "application/json",
        accept: options.accept ?? "application/json",
      };
      const call = request(cluster.url + path, { agent, method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          const body = text.startsWith("{") ? (JSON.parse(text) as JsonObject) : { message: text };
          resolve({ code: response.statusCode ?? 0, body });
        });
      });
      call.on("error", reject);
      call.end(options.body === undefined ? undefined : JSON.stringify(options.body));
    });
}
