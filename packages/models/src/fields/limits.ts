/** A whole-number range, both ends included. */
export interface WholeRange {
  readonly min: number;
  readonly max: number;
}

export const PORT_RANGE: WholeRange = { min: 1, max: 65_535 };

/** What a 32-bit count on the wire can hold. */
export const COUNT_RANGE: WholeRange = { min: 0, max: 4_294_967_295 };

/** Node ids are 64 bits wide on the wire; JSON numbers are exact up to here. */
export const NODE_ID_RANGE: WholeRange = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** Shares and probabilities. */
export const UNIT_INTERVAL = { min: 0, max: 1 } as const;
