import type { Generator } from "./generator.ts";

/** Every generator, in the order they run. */
export const GENERATORS: readonly Generator[] = [];
