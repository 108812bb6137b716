import { abortFault, failedPrecondition, Fault, orAbort, unavailable, type Clock } from "@oaas/foundation";
import type { TextSource } from "@oaas/foundation/files";
import { Agent, ProxyAgent, type Dispatcher } from "undici";
import type { ClusterAccess } from "../client/access.ts";
import type { HttpRequest, HttpResponse, Transport } from "../client/transport.ts";
import { createCredentials, type Identity } from "./credentials.ts";
import { textSource } from "./text-source.ts";

/** Connection settings. */
export interface UndiciTransportOptions {
  readonly clock: Clock;
  /** Connections for calls; each stream has its own connection. Default 16. */
  readonly connections?: number;
  /** Connect timeout. Default 5 s. */
  readonly connectTimeoutMs?: number;
}

/** Connections of one identity; replaced as a whole when a certificate rotates. */
interface Pools {
  readonly madeWith: string;
  readonly calls: Dispatcher;
  readonly streams: Dispatcher;
}

/**
 * The transport over sockets.
 *
 * Guarantees: HTTP/1.1 only (one dead connection must not break all watches); calls and streams do not share
 * connections; certificates, tokens and plug-ins are renewed as they rotate; a 401 is retried once with fresh
 * credentials.
 */
export function createUndiciTransport(access: ClusterAccess, options: UndiciTransportOptions): Transport {
  const credentials = createCredentials(access, options.clock);
  const ca = access.tls.ca && textSource(access.tls.ca, options.clock);
  const { origin, pathname } = new URL(access.server);
  const base = pathname === "/" ? "" : pathname;
  const retired = new Set<Pools>();
  let pools: Pools | undefined;
  let closed = false;

  const poolsFor = (identity: Identity): Pools => {
    const madeWith = [ca?.read(), identity.certificate, identity.key].join("\u0000");
    if (pools?.madeWith === madeWith) return pools;
    const previous = pools;
    pools = makePools(madeWith, access, ca, identity, options);
    if (previous) retire(previous, retired);
    return pools;
  };

  const sendAs = async (identity: Identity, request: HttpRequest): Promise<HttpResponse> => {
    if (closed) throw unavailable(access.server, "this process closed the connection to the cluster");
    const { calls, streams } = poolsFor(identity);
    const dispatcher = request.purpose === "stream" ? streams : calls;
    const response = await dispatcher
      .request({
        origin,
        path: base + request.path,
        method: request.method,
        headers: { ...request.headers, ...identity.headers },
        signal: request.signal,
        ...(request.body === undefined ? {} : { body: request.body }),
      })
      .catch((error: unknown) => {
        throw connectionFault(error, access.server, request.signal);
      });
    return responseOf(response, access.server, request.signal);
  };

  return {
    send: async (request) => {
      const identity = await orAbort(credentials.current(), request.signal);
      const response = await sendAs(identity, request);
      if (response.status !== 401 || !credentials.mayRenew(identity)) return response;
      await response.text();
      return sendAs(await orAbort(credentials.current(), request.signal), request);
    },
    close: async () => {
      closed = true;
      const last = [...(pools ? [pools] : []), ...retired];
      pools = undefined;
      await Promise.all(last.flatMap(({ calls, streams }) => [calls.destroy(), streams.destroy()]));
    },
  };
}

function makePools(
  madeWith: string,
  access: ClusterAccess,
  ca: TextSource | undefined,
  identity: Identity,
  options: UndiciTransportOptions,
): Pools {
  const tls = {
    rejectUnauthorized: !access.tls.insecure,
    ...(ca ? { ca: ca.read() } : {}),
    ...(identity.certificate === undefined ? {} : { cert: identity.certificate }),
    ...(identity.key === undefined ? {} : { key: identity.key }),
    ...(access.tls.serverName === undefined ? {} : { servername: access.tls.serverName }),
  };
  // Callers set deadlines by their signal; undici's timeouts would end long calls and quiet watches.
  const shared = { allowH2: false, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 };
  const timeout = options.connectTimeoutMs ?? 5_000;
  const make = (connections: number | null): Dispatcher =>
    access.proxyUrl === undefined
      ? new Agent({ ...shared, connections, connect: { ...tls, timeout } })
      : new ProxyAgent({
          ...shared,
          connections,
          uri: access.proxyUrl,
          proxyTls: { timeout },
          requestTls: { ...tls, timeout },
        });
  return { madeWith, calls: make(options.connections ?? 16), streams: make(null) };
}

/** Lets running requests finish. A watch on the old certificate ends by its own time limit, or with the transport. */
function retire(pools: Pools, retired: Set<Pools>): void {
  retired.add(pools);
  void Promise.allSettled([pools.calls.close(), pools.streams.close()]).then(() => retired.delete(pools));
}

function responseOf(response: Dispatcher.ResponseData, server: string, signal: AbortSignal): HttpResponse {
  const { body, statusCode } = response;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  const broken = (error: unknown): never => {
    throw connectionFault(error, server, signal);
  };
  return {
    status: statusCode,
    headers,
    text: () => body.text().catch(broken),
    chunks: async function* () {
      try {
        for await (const chunk of body) yield chunk as Uint8Array;
      } catch (error) {
        broken(error);
      } finally {
        body.destroy();
      }
    },
  };
}

const CERTIFICATE_ERRORS = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/;

/** Converts a connection error into a fault that names the server and what to check. */
function connectionFault(error: unknown, server: string, signal: AbortSignal): Fault {
  if (error instanceof Fault) return error;
  if (signal.aborted) return abortFault(signal);
  const { code, message } = error as NodeJS.ErrnoException;
  const context = { code, server };
  if (code !== undefined && CERTIFICATE_ERRORS.test(code)) {
    // Not retryable: a retry does not make the certificate trusted.
    return failedPrecondition(
      server,
      `no trusted connection to ${server} (${code}: ${message}); check the certificate authority and the client certificate`,
      { cause: error, context },
    );
  }
  return unavailable(server, `cannot reach the API server ${server} (${code ?? message})`, {
    cause: error,
    context,
  });
}
