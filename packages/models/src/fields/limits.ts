/** An integer range, both ends included. */
export interface WholeRange {
  readonly min: number;
  readonly max: number;
}

export const PORT_RANGE: WholeRange = { min: 1, max: 65_535 };

/** Range of a 32-bit count on the wire. */
export const COUNT_RANGE: WholeRange = { min: 0, max: 4_294_967_295 };

/** Node ids have 64 bits on the wire; JSON numbers are exact up to this limit. */
export const NODE_ID_RANGE: WholeRange = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** Shares and probabilities. */
export const UNIT_INTERVAL = { min: 0, max: 1 } as const;
