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

/** Throws one invalid-argument fault that names everything wrong with a transaction. */
export function checkTransaction(transaction: Transaction): void {
  const { conditions = [], writes } = transaction;
  const violations: Violation[] = [];
  const refuse = (path: string, message: string): void => void violations.push({ path, message });
  if (conditions.length > MAX_OPERATIONS) refuse("$.conditions", `more than ${MAX_OPERATIONS}`);
  if (writes.length > MAX_OPERATIONS) refuse("$.writes", `more than ${MAX_OPERATIONS}`);
  // At most so many; counted only when that may be too many.
  let bytes = 0;
  for (let index = 0; index < conditions.length; index += 1) {
    const condition = conditions[index] as Condition;
    const { key } = condition;
    bytes += key.length * MAX_UTF8;
    if (!isPlain(key)) checkKey(key, false, () => pathOf(ROOT_PATH, "conditions", index, "key"), refuse);
    if ("revision" in condition && !isRevision(condition.revision)) {
      refuse(pathOf(ROOT_PATH, "conditions", index, "revision"), "is not a revision (a positive integer)");
    }
  }
  for (let index = 0; index < writes.length; index += 1) {
    const write = writes[index] as Write;
    const target = targetOf(write);
    bytes += target.length * MAX_UTF8;
    if (!isPlain(target)) {
      const field = write.op === "delete-prefix" ? "prefix" : "key";
      checkKey(target, field === "prefix", () => pathOf(ROOT_PATH, "writes", index, field), refuse);
    }
    if (write.op !== "put") continue;
    bytes += write.value.length * MAX_UTF8;
    if (!write.value.isWellFormed()) {
      refuse(pathOf(ROOT_PATH, "writes", index, "value"), "holds half a surrogate pair, which UTF-8 cannot store");
    }
  }
  if (bytes > MAX_TRANSACTION_BYTES) checkSize(transaction, refuse);
  if (writes.length > 1) checkOverlap(writes, refuse);
  if (violations.length > 0) throw invalidArgument("the transaction", violations);
}

/** Throws an invalid-argument fault unless the key may be read. */
export function checkReadKey(key: string): void {
  if (!isPlain(key)) checkKeys([key]);
}

/** Throws an invalid-argument fault unless the keys may be read together. */
export function checkKeys(keys: readonly string[]): void {
  const violations: Violation[] = [];
  const refuse = (path: string, message: string): void => void violations.push({ path, message });
  if (keys.length > MAX_OPERATIONS) refuse(ROOT_PATH, `more than ${MAX_OPERATIONS} keys`);
  keys.forEach((key, index) => checkKey(key, false, () => pathOf(ROOT_PATH, index), refuse));
  if (violations.length > 0) throw invalidArgument("the list of keys", violations);
}

/** Throws an invalid-argument fault unless the query makes sense; returns the limit that applies. */
export function checkRange(query: RangeQuery): number {
  const violations: Violation[] = [];
  const refuse = (path: string, message: string): void => void violations.push({ path, message });
  const { limit = DEFAULT_PAGE } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) refuse("$.limit", `is not from 1 to ${MAX_PAGE}`);
  checkSpan(query, refuse);
  if (query.after !== undefined) checkKey(query.after, false, () => "$.after", refuse);
  if (query.atRevision !== undefined && !isRevision(query.atRevision)) refuse("$.atRevision", "is not a revision");
  if (violations.length > 0) throw invalidArgument("the range", violations);
  return limit;
}

/** Throws an invalid-argument fault unless the watch makes sense. */
export function checkWatch(query: WatchQuery): void {
  const violations: Violation[] = [];
  const refuse = (path: string, message: string): void => void violations.push({ path, message });
  checkSpan(query, refuse);
  if (!isRevision(query.fromRevision)) refuse("$.fromRevision", "is not a revision (a positive integer)");
  if (violations.length > 0) throw invalidArgument("the watch", violations);
}

/** Throws an invalid-argument fault unless a revision lies between 1 and the present one. */
export function checkPast(path: string, revision: number, present: number): void {
  if (isRevision(revision) && revision <= present) return;
  throw invalidArgument("the revision", [
    { path, message: `${revision} is not from 1 to the present one, ${present}` },
  ]);
}

/** Bytes that one unit of a text takes at most. */
const MAX_UTF8 = 3;

type Refuse = (path: string, message: string) => void;

function isRevision(revision: number): boolean {
  return Number.isSafeInteger(revision) && revision > 0;
}

function targetOf(write: Write): string {
  return write.op === "delete-prefix" ? write.prefix : write.key;
}

function checkSpan(span: RangeQuery | WatchQuery, refuse: Refuse): void {
  if (span.prefix !== undefined) checkKey(span.prefix, true, () => "$.prefix", refuse);
  else checkKey(span.start, true, () => "$.start", refuse);
  if (span.end !== undefined) checkKey(span.end, true, () => "$.end", refuse);
}

/** What nearly every key is: nothing can be wrong with it, and its bytes need not be counted. */
function isPlain(key: string): boolean {
  return key !== "" && key.length * MAX_UTF8 <= MAX_KEY_BYTES && !key.includes("\0") && key.isWellFormed();
}

function checkSize({ conditions = [], writes }: Transaction, refuse: Refuse): void {
  const texts = [
    ...conditions.map(({ key }) => key),
    ...writes.flatMap((write) => (write.op === "put" ? [write.key, write.value] : [targetOf(write)])),
  ];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MAX_TRANSACTION_BYTES) refuse(ROOT_PATH, `has ${bytes} bytes, more than ${MAX_TRANSACTION_BYTES}`);
}

function checkKey(key: string, emptyAllowed: boolean, path: () => string, refuse: Refuse): void {
  const bytes = Buffer.byteLength(key);
  if (key === "" && !emptyAllowed) refuse(path(), "is empty");
  if (bytes > MAX_KEY_BYTES) refuse(path(), `has ${bytes} bytes, more than ${MAX_KEY_BYTES}`);
  if (key.includes("\0")) refuse(path(), "holds U+0000");
  if (!key.isWellFormed()) refuse(path(), "holds half a surrogate pair, which UTF-8 cannot store");
}

/** Sorted by key, two writes overlap only if a neighbour (or an enclosing prefix further left) says so. */
function checkOverlap(writes: readonly Write[], refuse: Refuse): void {
  const [first, second] = writes as readonly [Write, Write];
  if (writes.length === 2 && first.op === "put" && second.op === "put" && first.key !== second.key) return;
  const order = writes.map((_, index) => index).sort((a, b) => compareAt(writes, a, b));
  let prefix: string | undefined;
  let before: string | undefined;
  for (const index of order) {
    const write = writes[index] as Write;
    const target = targetOf(write);
    if (target === before || (prefix !== undefined && target.startsWith(prefix))) {
      refuse(pathOf(ROOT_PATH, "writes", index), "touches a key that another write of the transaction touches");
    }
    if (write.op === "delete-prefix" && (prefix === undefined || !target.startsWith(prefix))) prefix = target;
    before = target;
  }
}

function compareAt(writes: readonly Write[], a: number, b: number): number {
  return compareKeys(targetOf(writes[a] as Write), targetOf(writes[b] as Write));
}
