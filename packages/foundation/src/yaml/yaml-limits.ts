import { REQUEST_LIMITS, tooDeep, type DocumentLimits } from "../documents/document-limits.ts";

/** Limits of a YAML text from outside. */
export interface YamlLimits extends DocumentLimits {
  readonly characters: number;
  /** Scalars, indicators, white space and comments. The parser's work is proportional to them. */
  readonly tokens: number;
  /** Uses of an alias, and how often they may repeat one another. */
  readonly aliases: number;
  readonly documents: number;
}

/**
 * Limits of request bodies: parsing takes at most about 100 ms, during which a server answers no one else. 50,000 tokens
 * are about 8,000 lines. JSON of the same size is parsed 50 times faster, so larger documents are sent as JSON.
 */
export const YAML_REQUEST_LIMITS: YamlLimits = {
  ...REQUEST_LIMITS,
  characters: 512 * 1024,
  tokens: 50_000,
  aliases: 100,
  documents: 1,
};

/** Limits of files that a user or an operator names; parsing one takes at most a few seconds. */
export const YAML_FILE_LIMITS: YamlLimits = {
  nodes: 1_000_000,
  depth: 100,
  characters: 8 * 1024 * 1024,
  tokens: 1_000_000,
  aliases: 100,
  documents: 1000,
};

/** A limit of the text was exceeded at an offset. */
export class LimitExceeded extends Error {
  readonly offset: number;
  readonly fix: string;

  constructor(offset: number, message: string, fix: string) {
    super(message);
    this.offset = offset;
    this.fix = fix;
  }
}

export const TOO_MANY_ALIASES = {
  message: "expands to too many aliases",
  fix: "replace aliases with their values, or use fewer",
};

export function tooLong(characters: number): LimitExceeded {
  return new LimitExceeded(0, `is longer than ${characters} characters of YAML`, "send it as JSON, or split it");
}

export function tooManyTokens(offset: number, tokens: number): LimitExceeded {
  return new LimitExceeded(offset, `has more than ${tokens} YAML tokens`, "send it as JSON, or split it");
}

export function tooManyAliases(offset: number): LimitExceeded {
  return new LimitExceeded(offset, TOO_MANY_ALIASES.message, TOO_MANY_ALIASES.fix);
}

export function tooDeepAt(offset: number, depth: number): LimitExceeded {
  const { message, fix = "" } = tooDeep(depth);
  return new LimitExceeded(offset, message, fix);
}

export function tooManyDocuments(offset: number, limit: number): LimitExceeded {
  return limit === 1
    ? new LimitExceeded(offset, "contains more than one document", "send one document at a time")
    : new LimitExceeded(offset, `contains more than ${limit} documents`, "split the file");
}
