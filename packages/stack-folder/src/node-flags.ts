/**
 * Node options of the stack process. Several servers start in one process; V8's default of 32 MB per semi-space would
 * keep a third of its memory for short-lived objects of the start.
 */
export const STACK_NODE_FLAGS: readonly string[] = ["--max-semi-space-size=16"];
