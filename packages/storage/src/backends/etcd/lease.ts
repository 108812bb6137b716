import { create } from "@bufbuild/protobuf";
import { abortFault, invalidArgument, type Ambient } from "@oaas/foundation";
import {
  Lease as LeaseService,
  LeaseGrantRequestSchema,
  LeaseKeepAliveRequestSchema,
  LeaseRevokeRequestSchema,
} from "../../gen/etcd_pb.ts";
import type { LeaseId, LeaseRequest } from "../../port/key-value-store.ts";
import { LeaseRenewer } from "../../leases/lease-renewer.ts";
import { methodOf, type CallRules, type EtcdConnection } from "./connection/connection.ts";

const GRANT = methodOf(LeaseService.method.leaseGrant);
const REVOKE = methodOf(LeaseService.method.leaseRevoke);
const KEEP_ALIVE = methodOf(LeaseService.method.leaseKeepAlive);

/** Store operations for leases. */
export interface LeaseHome {
  readonly ambient: Ambient;
  readonly connection: EtcdConnection;
  rules(signal: AbortSignal | undefined): CallRules;
  ended(keeper: LeaseRenewer): void;
}

/** Grants a lease and renews it. A grant without a response is repeated; the first lease expires unused. */
export async function grantEtcdLease(
  home: LeaseHome,
  request: LeaseRequest,
  signal: AbortSignal | undefined,
): Promise<LeaseRenewer> {
  if (!(request.ttlMs > 0)) throw invalidArgument("the lease", [{ path: "$.ttlMs", message: "must be positive" }]);
  const { clock } = home.ambient;
  const seconds = BigInt(Math.ceil(request.ttlMs / 1000));
  let requestedAt = clock.monotonic();
  const response = await home.connection.call(GRANT, create(LeaseGrantRequestSchema, { TTL: seconds }), {
    ...home.rules(signal),
    // Connecting, authentication and failed attempts do not count towards the time to live.
    onSend: () => {
      requestedAt = clock.monotonic();
    },
  });
  const id: LeaseId = String(response.ID);
  const granted = { id, ttlMs: Number(response.TTL) * 1000, requestedAt, keepAlive: request.keepAlive ?? true };
  const keeper: LeaseRenewer = new LeaseRenewer(home.ambient, granted, {
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

/** Renews once on a separate stream, which needs no recovery when it fails. */
async function renew(home: LeaseHome, id: LeaseId, signal: AbortSignal): Promise<number | undefined> {
  const { cancel, endpoint, messages, send } = await home.connection.stream(KEEP_ALIVE, home.rules(signal));
  signal.addEventListener("abort", cancel, { once: true });
  try {
    send(create(LeaseKeepAliveRequestSchema, { ID: BigInt(id) }));
    for await (const response of messages) {
      const seconds = Number(response.TTL);
      return seconds > 0 ? seconds * 1000 : undefined;
    }
    throw new Error("etcd ended the keep-alive stream");
  } catch (thrown) {
    const { fault } = home.connection.assess(signal.aborted ? abortFault(signal) : thrown);
    home.connection.leave(endpoint, fault);
    throw fault;
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
