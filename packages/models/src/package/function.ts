import type { FunctionKey } from "../fields/ids.ts";
import type { ProvisionConfig } from "./provision.ts";

/** Kind of a function. */
export const FunctionType = {
  builtin: "builtin",
  custom: "custom",
  macro: "macro",
  logical: "logical",
  wasm: "wasm",
} as const;
export type FunctionType = (typeof FunctionType)[keyof typeof FunctionType];

/** A function of a package; classes bind it to method names. */
export interface FunctionDefinition {
  readonly key: FunctionKey;
  readonly functionType: FunctionType;
  readonly description?: string;
  readonly provision?: ProvisionConfig;
  /** Environment variables of the function. */
  readonly config: Readonly<Record<string, string>>;
  readonly disabled: boolean;
}
