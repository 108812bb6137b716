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

/** Maximum length of a text without a rule of its own, such as a description or the value of an environment variable. */
export const MAX_TEXT_LENGTH = 65_536;

/** Maximum entries of lists and maps in documents. They bound the work of one request and are far above real use. */
export const LIST_LIMITS = {
  classes: 1000,
  functions: 1000,
  bindings: 256,
  parameters: 64,
  keySpecs: 256,
  dependencies: 256,
  deployments: 1000,
  documents: 128,
  tags: 256,
  clusters: 1000,
  namespaces: 256,
  freezeClusters: 100,
  addons: 64,
  collections: 64,
  nodeIds: 100,
  dimensions: 16,
  templates: 100,
  /** Environment variables, labels and attributes. */
  settings: 256,
} as const;
