/** One operation of a client, as it saw it: when it asked, when it had its answer, and what that was. */
export interface Operation<Input, Output> {
  readonly input: Input;
  readonly output: Output;
  readonly calledAt: number;
  readonly returnedAt: number;
}

/**
 * What one client at a time would see: the state after an operation (the very same when it changes nothing), or undefined where that answer
 * is impossible in the state.
 */
export type Step<State, Input, Output> = (state: State, input: Input, output: Output) => State | undefined;

/**
 * Whether operations that overlap in time could have happened one after another, each at one moment between call and return, with these
 * answers (Wing and Gong's search, with Lowe's memory of what was tried).
 *
 * *Promise*: exact; true if and only if there is such an order. Where `rank` says
 * a number, nothing of a higher one comes before it: for answers that tell their own order, without which the search would not end.
 */
export function isLinearisable<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  initial: State,
  step: Step<State, Input, Output>,
  rank: (output: Output) => number | undefined = () => undefined,
): boolean {
  const calls = history.toSorted((a, b) => a.calledAt - b.calledAt);
  const seen = new Set<string>();
  const search = (done: bigint, state: State): boolean => {
    if (done === (1n << BigInt(calls.length)) - 1n) return true;
    const key = `${done}/${JSON.stringify(state)}`;
    if (seen.has(key)) return false;
    seen.add(key);
    const isOpen = (at: number): boolean => (done & (1n << BigInt(at))) === 0n;
    // Whatever had returned before another was called came before it: only calls before the first return may be next.
    const open = calls.filter((_, at) => isOpen(at));
    const firstReturn = Math.min(...open.map(({ returnedAt }) => returnedAt));
    const lowest = Math.min(...open.map(({ output }) => rank(output) ?? Number.POSITIVE_INFINITY));
    const next = calls.flatMap(({ input, output, calledAt }, at) => {
      const mayBeNext = isOpen(at) && calledAt <= firstReturn && (rank(output) ?? lowest) === lowest;
      const after = mayBeNext ? step(state, input, output) : undefined;
      return after === undefined ? [] : [{ done: done | (1n << BigInt(at)), after }];
    });
    // What changes nothing and fits here may as well be here: no other order needs to be tried.
    const idle = next.find(({ after }) => after === state);
    return (idle === undefined ? next : [idle]).some((each) => search(each.done, each.after));
  };
  return search(0n, initial);
}
