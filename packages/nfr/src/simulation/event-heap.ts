/** A queue of times that returns the earliest first. */
export class EventHeap {
  #times = new Float64Array(64);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The earliest time; infinite when the queue is empty. */
  get next(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : (this.#times[0] as number);
  }

  push(time: number): void {
    if (this.#size === this.#times.length) {
      const larger = new Float64Array(2 * this.#size);
      larger.set(this.#times);
      this.#times = larger;
    }
    let at = this.#size;
    this.#size += 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#times[parent] as number) <= time) break;
      this.#times[at] = this.#times[parent] as number;
      at = parent;
    }
    this.#times[at] = time;
  }

  pop(): void {
    this.#size -= 1;
    const last = this.#times[this.#size] as number;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && (this.#times[child + 1] as number) < (this.#times[child] as number)) child += 1;
      if ((this.#times[child] as number) >= last) break;
      this.#times[at] = this.#times[child] as number;
      at = child;
    }
    this.#times[at] = last;
  }
}
