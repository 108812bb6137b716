/**
 * File formats of the data folder of a local stack, without input or output; `@oaas/stack-folder/node` reads the files.
 *
 * Reading order: stack-record (the running process), log-lines (merging logs), node-flags (Node options of the stack).
 */
export { readRecord, recordText, STATE_FILE, type StackRecord } from "./stack-record.ts";
export { STACK_NODE_FLAGS } from "./node-flags.ts";
export { logText, mergeLogs, type LogLine, type LogTail } from "./log-lines.ts";
