import { create } from "@bufbuild/protobuf";
import { abortFault, invalidArgument, type Ambient } from "@oaas/foundation";
import {
  Lease as LeaseService,
  LeaseGrantRequestSchema,
  LeaseKeepAliveRequestSchema,
  LeaseRevokeRequestSchema,
} from "../../gen/etcd_pb.ts";
import type { LeaseId, LeaseRequest } from "../../port/key-value-store.ts";
import { LeaseKeeper } from "../../leases/lease-renewer.ts";
import { methodOf, type CallRules, type EtcdConnection } from "./connection.ts";

const GRANT = methodOf(LeaseService.method.leaseGrant);
const REVOKE = methodOf(LeaseService.method.leaseRevoke);
const KEEP_ALIVE = methodOf(LeaseService.method.leaseKeepAlive);

/** What leases need of the store. */
export interface LeaseHome {
  readonly ambient: Ambient;
  readonly connection: EtcdConnection;
  rules(signal: AbortSignal | undefined): CallRules;
  ended(keeper: LeaseKeeper): void;
}

/** Grants a lease and keeps it. A grant whose answer was lost is asked for again; the first one runs out unused. */
export async function grantEtcdLease(
  home: LeaseHome,
  request: LeaseRequest,
  signal: AbortSignal | undefined,
): Promise<LeaseKeeper> {
  if (!(request.ttlMs > 0)) throw invalidArgument("the lease", [{ path: "$.ttlMs", message: "is not positive" }]);
  const { clock } = home.ambient;
  const seconds = BigInt(Math.ceil(request.ttlMs / 1000));
  let askedAt = clock.monotonic();
  const response = await home.connection.call(GRANT, create(LeaseGrantRequestSchema, { TTL: seconds }), {
    ...home.rules(signal),
    // Connecting, authenticating and tries that failed are no part of its life.
    onSend: () => {
      askedAt = clock.monotonic();
    },
  });
  const id: LeaseId = String(response.ID);
  const granted = { id, ttlMs: Number(response.TTL) * 1000, askedAt, keepAlive: request.keepAlive ?? true };
  const keeper: LeaseKeeper = new LeaseKeeper(home.ambient, granted, {
    renew: (until) => renew(home, id, until),
    revoke: (options) => revoke(home, id, options?.signal),
    ended: () => home.ended(keeper),
  });
  return keeper;
}

async function revoke(home: LeaseHome, id: LeaseId, signal: AbortSignal | undefined): Promise<void> {
  try {
    await home.connection.call(REVOKE, create(LeaseRevokeRequestSchema, { ID: BigInt(id) }), home.rules(signal));
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code !== "OAAS_LEASE_LOST") throw thrown;
  }
}

/** One renewal on a stream of its own: nothing to repair when it breaks. */
async function renew(home: LeaseHome, id: LeaseId, signal: AbortSignal): Promise<number | undefined> {
  const { cancel, endpoint, messages, send } = await home.connection.stream(KEEP_ALIVE, home.rules(signal));
  signal.addEventListener("abort", cancel, { once: true });
  try {
    send(create(LeaseKeepAliveRequestSchema, { ID: BigInt(id) }));
    for await (const response of messages) {
      const seconds = Number(response.TTL);
      return seconds > 0 ? seconds * 1000 : undefined;
    }
    throw new Error("the keep-alive was ended by etcd");
  } catch (thrown) {
    const { fault } = home.connection.assess(signal.aborted ? abortFault(signal) : thrown);
    home.connection.leave(endpoint, fault);
    throw fault;
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
