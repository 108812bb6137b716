/**
 * Lets the news of a class wait for its turn, so that where many classes are made at once their children come first: what users wait for is that
 * things run, and the pass that tells of it comes behind every change of a user's in the queue. Each version of a class waits once; somebody who
 * changes its children all the time cannot keep its status from being told.
 */
export class StatusTurns {
  readonly #waited = new WeakSet<object>();

  /** Whether the status of this version may wait for another pass. */
  mayWait(version: object): boolean {
    if (this.#waited.has(version)) return false;
    this.#waited.add(version);
    return true;
  }
}
