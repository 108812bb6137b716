import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { unreachable } from "@oaas/foundation";
import {
  Compare_CompareResult as Result,
  Compare_CompareTarget as Target,
  CompareSchema,
  DeleteRangeRequestSchema,
  PutRequestSchema,
  RangeRequestSchema,
  RequestOpSchema,
  TxnRequestSchema,
  type Compare,
  type PutRequest,
  type RequestOp,
  type TxnRequest,
  type TxnResponse,
} from "../../gen/etcd_pb.ts";
import { assertConditions } from "../../port/transaction.ts";
import { rangeOf } from "../../port/key-order.ts";
import type { Committed, Condition, Entry, Transaction, Write } from "../../port/key-value-store.ts";
import type { KeySpace } from "./keys.ts";

/** Encodes a transaction for etcd. If a condition fails, etcd returns the current entries. */
export function transactionRequest(keys: KeySpace, transaction: Transaction): TxnRequest {
  const conditions = transaction.conditions ?? [];
  return create(TxnRequestSchema, {
    compare: conditions.map((condition) => comparison(keys, condition)),
    success: transaction.writes.map((write) => operation(keys, write)),
    failure: conditions.map(({ key }) => read({ key: keys.key(key), keysOnly: true })),
  });
}

/** A transaction with a single put, which etcd handles faster. */
export function barePut(keys: KeySpace, { conditions, writes }: Transaction): PutRequest | undefined {
  const [write] = writes;
  if (writes.length !== 1 || write?.op !== "put" || (conditions?.length ?? 0) > 0) return undefined;
  return putRequest(keys, write);
}

/** Returns the result of a transaction. Throws the conflict of the first unsatisfied condition. */
export function transactionResult(keys: KeySpace, transaction: Transaction, response: TxnResponse): Committed {
  if (!response.succeeded) {
    const found = new Map<string, Entry>();
    for (const pair of pairsOf(response).flat()) {
      const entry = keys.entry(pair);
      found.set(entry.key, entry);
    }
    assertConditions(transaction.conditions ?? [], (key) => found.get(key));
  }
  const changed = response.responses.some(
    ({ response: each }) =>
      each.case === "responsePut" || (each.case === "responseDeleteRange" && each.value.deleted > 0n),
  );
  return { revision: Number(response.header?.revision), changed };
}

/** Encodes reads of several keys. */
export function readRequest(keys: KeySpace, names: readonly string[], atRevision: number): TxnRequest {
  return create(TxnRequestSchema, {
    success: names.map((key) => read({ key: keys.key(key), revision: BigInt(atRevision) })),
  });
}

export function readResult(keys: KeySpace, response: TxnResponse): (Entry | undefined)[] {
  return pairsOf(response).map(([pair]) => (pair === undefined ? undefined : keys.entry(pair)));
}

function pairsOf(response: TxnResponse): Parameters<KeySpace["entry"]>[0][][] {
  return response.responses.map(({ response: each }) => (each.case === "responseRange" ? each.value.kvs : []));
}

function comparison(keys: KeySpace, condition: Condition): Compare {
  const key = keys.key(condition.key);
  switch (condition.test) {
    case "absent":
      return compare({ key, target: Target.VERSION, targetUnion: { case: "version", value: 0n } });
    case "present":
      return compare({
        key,
        target: Target.VERSION,
        result: Result.GREATER,
        targetUnion: { case: "version", value: 0n },
      });
    case "mod-revision": {
      const value = BigInt(condition.revision);
      return compare({ key, target: Target.MOD, targetUnion: { case: "modRevision", value } });
    }
    case "create-revision": {
      const value = BigInt(condition.revision);
      return compare({ key, target: Target.CREATE, targetUnion: { case: "createRevision", value } });
    }
    default:
      return unreachable(condition);
  }
}

function compare(init: MessageInitShape<typeof CompareSchema>): Compare {
  return create(CompareSchema, init);
}

function operation(keys: KeySpace, write: Write): RequestOp {
  switch (write.op) {
    case "put": {
      const value = putRequest(keys, write);
      return create(RequestOpSchema, { request: { case: "requestPut", value } });
    }
    case "delete":
      return deletion({ key: keys.key(write.key) });
    case "delete-prefix":
      return deletion(keys.range(rangeOf({ prefix: write.prefix })));
    default:
      return unreachable(write);
  }
}

function putRequest(keys: KeySpace, write: Extract<Write, { op: "put" }>): PutRequest {
  const lease = BigInt(write.lease ?? 0);
  return create(PutRequestSchema, { key: keys.key(write.key), value: Buffer.from(write.value), lease });
}

function deletion(what: { readonly key: Buffer; readonly rangeEnd?: Buffer }): RequestOp {
  const value = create(DeleteRangeRequestSchema, what);
  return create(RequestOpSchema, { request: { case: "requestDeleteRange", value } });
}

function read(what: { readonly key: Buffer; readonly keysOnly?: boolean; readonly revision?: bigint }): RequestOp {
  return create(RequestOpSchema, { request: { case: "requestRange", value: create(RangeRequestSchema, what) } });
}
