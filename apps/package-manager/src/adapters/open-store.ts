import type { Ambient, Clock, Fault } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { openEtcdStore } from "@oaas/storage/etcd";
import { openMemoryStore } from "@oaas/storage/memory";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { BACKOFF } from "../backoff-policies.ts";
import type { PmConfig } from "../config.ts";

/** Opens the store that the configuration names. */
export function openStore({ storage }: Pick<PmConfig, "storage">, ambient: Ambient, logger: Logger): KeyValueStore {
  if (storage.type === "sqlite") {
    return openSqliteStore({
      ambient,
      file: storage.file,
      reopen: BACKOFF.storeReopen,
      onIncident: ({ what, path, fault, details }) => logger.warn(`sqlite: ${what}`, { path, fault, ...details }),
    });
  }
  if (storage.type === "memory")
    return openMemoryStore({ ambient, scheduleNotify: (notify) => void ambient.timers.after(0, notify) });
  const {
    etcdUsername: username,
    etcdPassword: password,
    etcdCaFile,
    etcdCertFile,
    etcdKeyFile,
    etcdInsecure,
  } = storage;
  const scheme = storage.etcdTls ? "https://" : "http://";
  return openEtcdStore({
    ambient,
    endpoints: storage.etcdEndpoints.map((endpoint) => (endpoint.includes("://") ? endpoint : scheme + endpoint)),
    keyPrefix: storage.etcdPrefix.endsWith("/") ? storage.etcdPrefix : `${storage.etcdPrefix}/`,
    timeoutMs: storage.etcdTimeoutMs,
    onIncident: withoutRepeats(ambient.clock, ({ what, endpoint, fault }) =>
      logger.warn(`etcd: ${what}`, { endpoint, fault }),
    ),
    ...(username === undefined || password === undefined ? {} : { auth: { username, password } }),
    ...(storage.etcdTls
      ? {
          tls: {
            insecureSkipVerify: etcdInsecure,
            ...(etcdCaFile === undefined ? {} : { caFile: etcdCaFile }),
            ...(etcdCertFile === undefined ? {} : { certFile: etcdCertFile }),
            ...(etcdKeyFile === undefined ? {} : { keyFile: etcdKeyFile }),
          },
        }
      : {}),
  });
}

const REPEATED_MS = 30_000;

/** Passes on the same incident at most every half minute: an etcd that is down causes several per second. */
function withoutRepeats<I extends { readonly what: string; readonly endpoint?: string; readonly fault: Fault }>(
  clock: Clock,
  log: (incident: I) => void,
): (incident: I) => void {
  const loggedMs = new Map<string, number>();
  return (incident) => {
    const id = `${incident.what} ${incident.endpoint ?? ""} ${incident.fault.message}`;
    const nowMs = clock.monotonic();
    if (nowMs - (loggedMs.get(id) ?? Number.NEGATIVE_INFINITY) < REPEATED_MS) return;
    // Messages are few; forget the old ones anyway.
    for (const [known, atMs] of loggedMs) if (nowMs - atMs >= REPEATED_MS) loggedMs.delete(known);
    loggedMs.set(id, nowMs);
    log(incident);
  };
}
