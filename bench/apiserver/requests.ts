import { Agent, request, type RequestOptions } from "node:https";
import type { IncomingMessage } from "node:http";
import type { MeasuredServer } from "./targets.ts";

/** A minimal client, so that the benchmark measures the server. */
export class Requests {
  readonly #server: MeasuredServer;
  readonly #agent: Agent;

  constructor(server: MeasuredServer) {
    this.#server = server;
    this.#agent = new Agent({ keepAlive: true, ca: server.ca });
  }

  async send(method: string, path: string, body?: object, contentType = "application/json"): Promise<string> {
    const response = await this.open(method, path, body, contentType);
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    if ((response.statusCode ?? 0) > 299)
      throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`);
    return text;
  }

  open(method: string, path: string, body?: object, contentType = "application/json"): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.#server.token}`,
      ...(text === undefined ? {} : { "content-type": contentType, "content-length": Buffer.byteLength(text) }),
    };
    const options: RequestOptions = { method, headers, agent: this.#agent };
    return new Promise((resolve, reject) => {
      request(this.#server.url + path, options, resolve)
        .on("error", reject)
        .end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Runs jobs with limited concurrency. */
export async function atOnce<T>(items: readonly T[], width: number, job: (item: T) => Promise<unknown>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const item of queue) await job(item);
    }),
  );
}
