/**
 * The data folder of a local stack, without input or output; what reads its files is in `@oaas/stack-folder/node`.
 *
 * Reading order: stack-record (who runs on it), log-lines (what it logged), node-flags (how its program is run).
 */
export { readRecord, recordText, STATE_FILE, type StackRecord } from "./stack-record.ts";
export { STACK_NODE_FLAGS } from "./node-flags.ts";
export { logText, mergedLogs, type LogLine, type LogTail } from "./log-lines.ts";
