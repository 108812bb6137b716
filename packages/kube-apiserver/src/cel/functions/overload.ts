import type { CelType } from "../values/types.ts";
import type { CelValue } from "../values/values.ts";

/**
 * One signature of a function: parameters, result and implementation. The checker and the evaluator use the same table.
 */
export interface Overload {
  readonly name: string;
  /** Whether it is called as `a.f(b)`; then the receiver is the first parameter. */
  readonly isMethod: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  /** Receives values of exactly these types; errors never reach it. */
  run(...args: readonly never[]): CelValue;
}

type Run = (...args: never[]) => CelValue;

/** `f(a, b)` or an operator. */
export function createFunction(name: string, params: readonly CelType[], result: CelType, run: Run): Overload {
  return { name, isMethod: false, params, result, run };
}

/** `a.f(b)`. */
export function createMethod(name: string, params: readonly CelType[], result: CelType, run: Run): Overload {
  return { name, isMethod: true, params, result, run };
}
