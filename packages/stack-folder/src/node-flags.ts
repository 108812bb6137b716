/**
 * What Node is told when it runs the program of a stack. Several servers share that process: what they make for a moment while they start would claim a
 * third of its memory and keep it, if V8 let both halves of the young generation grow to 32 MB as it does by itself.
 */
export const STACK_NODE_FLAGS: readonly string[] = ["--max-semi-space-size=16"];
