import type { FunctionKey } from "../fields/ids.ts";
import type { ProvisionConfig } from "./provision.ts";

/** What kind of code a function is. */
export const FunctionType = {
  builtin: "builtin",
  custom: "custom",
  macro: "macro",
  logical: "logical",
  wasm: "wasm",
} as const;
export type FunctionType = (typeof FunctionType)[keyof typeof FunctionType];

/** A piece of code that a package offers; classes bind it to method names. */
export interface FunctionDefinition {
  readonly key: FunctionKey;
  readonly functionType: FunctionType;
  readonly description?: string;
  readonly provision?: ProvisionConfig;
  /** Given to the code as environment variables. */
  readonly config: Readonly<Record<string, string>>;
  readonly disabled: boolean;
}
