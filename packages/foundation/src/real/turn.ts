/** Resolves when this turn of the event loop is over: every promise that was ready has run by then, and those that became ready thereby. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
