/** One operation of a client with its call time, return time and result. */
export interface Operation<Input, Output> {
  readonly input: Input;
  readonly output: Output;
  readonly calledAt: number;
  readonly returnedAt: number;
}

/**
 * The sequential model: the state after an operation (the same object when it changes nothing), or undefined when the
 * output is impossible in the state.
 */
export type Step<State, Input, Output> = (state: State, input: Input, output: Output) => State | undefined;

/**
 * Whether concurrent operations have an equivalent sequential order in which each takes effect between its call and its
 * return (the search of Wing and Gong with Lowe's cache of visited states).
 *
 * *Guarantees*: true if and only if such an order exists. Operations with a `rank` are tried in rank order, which keeps the
 * search short when outputs reveal their order.
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
    // An operation that returned before another was called precedes it: only calls before the first return may be next.
    const open = calls.filter((_, at) => isOpen(at));
    const firstReturn = Math.min(...open.map(({ returnedAt }) => returnedAt));
    const lowest = Math.min(...open.map(({ output }) => rank(output) ?? Number.POSITIVE_INFINITY));
    const next = calls.flatMap(({ input, output, calledAt }, at) => {
      const mayBeNext = isOpen(at) && calledAt <= firstReturn && (rank(output) ?? lowest) === lowest;
      const after = mayBeNext ? step(state, input, output) : undefined;
      return after === undefined ? [] : [{ done: done | (1n << BigInt(at)), after }];
    });
    // An operation that changes nothing and fits here can be taken now: no other order needs to be tried.
    const idle = next.find(({ after }) => after === state);
    return (idle === undefined ? next : [idle]).some((each) => search(each.done, each.after));
  };
  return search(0n, initial);
}
