import { setTimeout } from "node:timers/promises";
import { loadConfig } from "@oaas/config";
import type { Ambient } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { NOOP_CONTEXT, NOOP_LOGGER, NOOP_METER, type Logger } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import type { AuditSink } from "../src/access/audit-queue.ts";
import { readTokens, type TokenTable } from "../src/access/token-file.ts";
import { fetchJson } from "../src/adapters/fetch-json.ts";
import { startApp, type RunningApp } from "../src/app.ts";
import { pmConfig } from "../src/config.ts";
import type { Lab } from "../src/use-cases.ts";

export interface PmUnderTest extends AsyncDisposable {
  readonly url: string;
  readonly app: RunningApp;
  readonly store: KeyValueStore;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Of a JSON body; undefined when there is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read responses of every shape
  readonly json: any;
}

export interface PmOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly clusters?: Readonly<Record<string, string>>;
  readonly store?: KeyValueStore;
  /** The text of a token file. */
  readonly tokens?: string;
  readonly logger?: Logger;
  readonly ambient?: Ambient;
  /** Where audit lines go; the logger by default. */
  readonly audit?: AuditSink;
  /** Fault injection, which only the local stack offers. */
  readonly lab?: Lab;
}

/** Starts the package manager in this process on a free port. Closing leaves a passed store open. */
export async function startPm(options: PmOptions = {}): Promise<PmUnderTest> {
  const clusters = Object.fromEntries(Object.entries(options.clusters ?? {}).map(([name, url]) => [name, { url }]));
  const config = loadConfig(pmConfig, {
    env: {
      SERVER_PORT: "0",
      CRM_CLUSTERS_JSON: JSON.stringify(clusters),
      SERVER_RATE_LIMIT: "100000",
      SERVER_RATE_BURST: "100000",
      // Whether this checkout has a built console must not matter.
      ...(options.env?.["CONSOLE_DIR"] === undefined ? { CONSOLE_ENABLED: "false" } : {}),
      ...(options.tokens === undefined ? {} : { AUTH_TOKENS_FILE: "unused" }),
      ...options.env,
    },
    args: [],
    readFile: () => "",
  });
  const store = options.store ?? openMemoryStore({ ambient: realAmbient });
  const table = tableOf(options.tokens);
  const app = await startApp(config, {
    ambient: options.ambient ?? realAmbient,
    store,
    tokens: () => table,
    fetchJson,
    ...(options.audit === undefined ? {} : { audit: options.audit }),
    ...(options.lab === undefined ? {} : { lab: options.lab }),
    logger: options.logger ?? NOOP_LOGGER,
    meter: NOOP_METER,
    metricsText: async () => "",
    context: NOOP_CONTEXT,
  });
  const url = `http://127.0.0.1:${app.port}`;
  const close = async (): Promise<void> => {
    await app.close();
    if (options.store === undefined) await store.close();
  };
  return {
    url,
    app,
    store,
    close,
    [Symbol.asyncDispose]: close,
    call: (method, path, how) => sendRequest(url, method, path, how),
  };
}

function tableOf(text: string | undefined): TokenTable | undefined {
  if (text === undefined) return undefined;
  const read = readTokens(text);
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

/** Sends a request and reads the whole response. */
export async function sendRequest(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { body, raw, headers = {} } = options;
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url + path, {
    redirect: "manual",
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(sent === undefined ? {} : { body: sent as string }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== "" ? JSON.parse(text) : undefined,
  };
}

/** A package with one class of one function. */
export function echoPackage(name: string, more: object = {}): object {
  return {
    name,
    classes: [{ key: "Echo", function_bindings: [{ name: "echo", function_key: "echo", access_modifier: "PUBLIC" }] }],
    functions: [{ key: "echo", provision_config: { container_image: "ghcr.io/oaas/echo:1" } }],
    ...more,
  };
}

/** Repeats a request while it fails because of a lost lease: on a busy machine a short lease expires. */
export async function retryWhileLeaseLost(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503 || !answer.text.includes("lost its lease")) return answer;
    await setTimeout(100);
  }
}

/** The keys and versions of all records but the audit trail, which records rejected changes too. */
export async function recordVersions(store: KeyValueStore): Promise<readonly string[]> {
  const versions: string[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.range({ prefix: "", ...(after === undefined ? {} : { after }) });
    const records = page.entries.filter(({ key }) => !key.startsWith("audit/"));
    versions.push(...records.map(({ key, modRevision }) => `${key} ${modRevision}`));
    if (page.next === undefined) return versions;
    after = page.next;
  }
}

/**
 * Everything in the store, with the revision of each key, except what is not written by the effect of a request: the audit
 * trail, which records rejected requests too, leases, and the state of deployments that clusters report at any time.
 */
export async function storeContents(store: KeyValueStore): Promise<readonly string[]> {
  const lines: string[] = [];
  let after: string | undefined;
  do {
    const page = await store.range({ prefix: "", limit: 500, ...(after === undefined ? {} : { after }) });
    for (const { key, value, modRevision } of page.entries) {
      if (/^(?:audit\/|o\/keeper|o\/replanner|o\/restart-turns|o\/saga-engines\/)/.test(key)) continue;
      lines.push(
        /^c\/deployment(?:s|-revisions)\//.test(key)
          ? `${key} ${withoutReports(value)}`
          : `${key} ${modRevision} ${value}`,
      );
    }
    after = page.next;
  } while (after !== undefined);
  return lines;
}

const REPORTED: ReadonlySet<string> = new Set([
  "condition",
  "drift",
  "generation",
  "observed",
  "outcome",
  "outcomeAt",
  "serving",
]);

function withoutReports(value: string): string {
  return JSON.stringify(JSON.parse(value), (name, member: unknown) => (REPORTED.has(name) ? undefined : member));
}
