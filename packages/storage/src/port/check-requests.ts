import { invalidArgument, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { compareKeys } from "./key-order.ts";
import {
  DEFAULT_PAGE,
  MAX_KEY_BYTES,
  MAX_OPERATIONS,
  MAX_PAGE,
  MAX_TRANSACTION_BYTES,
  type Condition,
  type RangeQuery,
  type Transaction,
  type WatchQuery,
  type Write,
} from "./key-value-store.ts";

/** Throws one invalid-argument fault with all violations of a transaction. */
export function checkTransaction(transaction: Transaction): void {
  const { conditions = [], writes } = transaction;
  const violations: Violation[] = [];
  const reject = (path: string, message: string): void => void violations.push({ path, message });
  if (conditions.length > MAX_OPERATIONS) reject("$.conditions", `has more than ${MAX_OPERATIONS} entries`);
  if (writes.length > MAX_OPERATIONS) reject("$.writes", `has more than ${MAX_OPERATIONS} entries`);
  // Upper bound; the exact size is computed only if the bound exceeds the limit.
  let bytes = 0;
  for (let index = 0; index < conditions.length; index += 1) {
    const condition = conditions[index] as Condition;
    const { key } = condition;
    bytes += key.length * MAX_UTF8;
    if (!isPlain(key)) checkKey(key, false, () => pathOf(ROOT_PATH, "conditions", index, "key"), reject);
    if ("revision" in condition && !isRevision(condition.revision)) {
      reject(pathOf(ROOT_PATH, "conditions", index, "revision"), "must be a revision (a positive integer)");
    }
  }
  for (let index = 0; index < writes.length; index += 1) {
    const write = writes[index] as Write;
    const target = targetOf(write);
    bytes += target.length * MAX_UTF8;
    if (!isPlain(target)) {
      const field = write.op === "delete-prefix" ? "prefix" : "key";
      checkKey(target, field === "prefix", () => pathOf(ROOT_PATH, "writes", index, field), reject);
    }
    if (write.op !== "put") continue;
    bytes += write.value.length * MAX_UTF8;
    if (!write.value.isWellFormed()) {
      reject(pathOf(ROOT_PATH, "writes", index, "value"), "has a lone surrogate, which UTF-8 cannot store");
    }
  }
  if (bytes > MAX_TRANSACTION_BYTES) checkSize(transaction, reject);
  if (writes.length > 1) checkOverlap(writes, reject);
  if (violations.length > 0) throw invalidArgument("the transaction", violations);
}

/** Throws an invalid-argument fault if the key is invalid. */
export function checkReadKey(key: string): void {
  if (!isPlain(key)) checkKeys([key]);
}

/** Throws an invalid-argument fault if a key is invalid or there are too many. */
export function checkKeys(keys: readonly string[]): void {
  const violations: Violation[] = [];
  const reject = (path: string, message: string): void => void violations.push({ path, message });
  if (keys.length > MAX_OPERATIONS) reject(ROOT_PATH, `has more than ${MAX_OPERATIONS} keys`);
  keys.forEach((key, index) => checkKey(key, false, () => pathOf(ROOT_PATH, index), reject));
  if (violations.length > 0) throw invalidArgument("the list of keys", violations);
}

/** Throws an invalid-argument fault if the query is invalid; returns the effective limit. */
export function checkRange(query: RangeQuery): number {
  const violations: Violation[] = [];
  const reject = (path: string, message: string): void => void violations.push({ path, message });
  const { limit = DEFAULT_PAGE } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) reject("$.limit", `must be from 1 to ${MAX_PAGE}`);
  checkSpan(query, reject);
  if (query.after !== undefined) checkKey(query.after, false, () => "$.after", reject);
  if (query.atRevision !== undefined && !isRevision(query.atRevision))
    reject("$.atRevision", "must be a revision (a positive integer)");
  if (violations.length > 0) throw invalidArgument("the range", violations);
  return limit;
}

/** Throws an invalid-argument fault if the watch is invalid. */
export function checkWatch(query: WatchQuery): void {
  const violations: Violation[] = [];
  const reject = (path: string, message: string): void => void violations.push({ path, message });
  checkSpan(query, reject);
  if (!isRevision(query.fromRevision)) reject("$.fromRevision", "must be a revision (a positive integer)");
  if (violations.length > 0) throw invalidArgument("the watch", violations);
}

/** Throws an invalid-argument fault unless a revision is from 1 to the current one. */
export function checkPast(path: string, revision: number, current: number): void {
  if (isRevision(revision) && revision <= current) return;
  throw invalidArgument("the revision", [
    { path, message: `must be from 1 to the current revision ${current}, not ${revision}` },
  ]);
}

/** Maximum bytes of a UTF-16 code unit in UTF-8. */
const MAX_UTF8 = 3;

type Reject = (path: string, message: string) => void;

function isRevision(revision: number): boolean {
  return Number.isSafeInteger(revision) && revision > 0;
}

function targetOf(write: Write): string {
  return write.op === "delete-prefix" ? write.prefix : write.key;
}

function checkSpan(span: RangeQuery | WatchQuery, reject: Reject): void {
  if (span.prefix !== undefined) checkKey(span.prefix, true, () => "$.prefix", reject);
  else checkKey(span.start, true, () => "$.start", reject);
  if (span.end !== undefined) checkKey(span.end, true, () => "$.end", reject);
}

/** Whether a key is valid without counting its bytes; true for nearly every key. */
function isPlain(key: string): boolean {
  return key !== "" && key.length * MAX_UTF8 <= MAX_KEY_BYTES && !key.includes("\0") && key.isWellFormed();
}

function checkSize({ conditions = [], writes }: Transaction, reject: Reject): void {
  const texts = [
    ...conditions.map(({ key }) => key),
    ...writes.flatMap((write) => (write.op === "put" ? [write.key, write.value] : [targetOf(write)])),
  ];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MAX_TRANSACTION_BYTES) reject(ROOT_PATH, `has ${bytes} bytes, more than ${MAX_TRANSACTION_BYTES}`);
}

function checkKey(key: string, emptyAllowed: boolean, path: () => string, reject: Reject): void {
  const bytes = Buffer.byteLength(key);
  if (key === "" && !emptyAllowed) reject(path(), "is empty");
  if (bytes > MAX_KEY_BYTES) reject(path(), `has ${bytes} bytes, more than ${MAX_KEY_BYTES}`);
  if (key.includes("\0")) reject(path(), "contains U+0000");
  if (!key.isWellFormed()) reject(path(), "has a lone surrogate, which UTF-8 cannot store");
}

/** In sorted order, a write overlaps only with its neighbour or with an enclosing prefix. */
function checkOverlap(writes: readonly Write[], reject: Reject): void {
  const [first, second] = writes as readonly [Write, Write];
  if (writes.length === 2 && first.op === "put" && second.op === "put" && first.key !== second.key) return;
  const order = writes.map((_, index) => index).sort((a, b) => compareAt(writes, a, b));
  let prefix: string | undefined;
  let before: string | undefined;
  for (const index of order) {
    const write = writes[index] as Write;
    const target = targetOf(write);
    if (target === before || (prefix !== undefined && target.startsWith(prefix))) {
      reject(pathOf(ROOT_PATH, "writes", index), "writes a key that another write of the transaction also writes");
    }
    if (write.op === "delete-prefix" && (prefix === undefined || !target.startsWith(prefix))) prefix = target;
    before = target;
  }
}

function compareAt(writes: readonly Write[], a: number, b: number): number {
  return compareKeys(targetOf(writes[a] as Write), targetOf(writes[b] as Write));
}
