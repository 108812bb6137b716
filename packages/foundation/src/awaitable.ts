/** A value that may be there already. A promise costs as much as a lookup in memory, which thousands of requests per second make. */
export type Awaitable<T> = T | Promise<T>;

/** Goes on with a value: at once when it is there. */
export function onceThere<T, R>(value: Awaitable<T>, goOn: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** Does work that may be done at once; what it throws then is rejected, as if it had been waited for. */
export function rejecting<T>(work: () => Awaitable<T>): Awaitable<T> {
  try {
    return work();
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}
