// Where columns and rows begin. Pure.

export class Places {
  readonly #starts: Float64Array;

  constructor(n: number, sizes: ReadonlyMap<number, number>, usual: number) {
    this.#starts = new Float64Array(n + 1);
    for (let at = 0; at < n; at += 1) this.#starts[at + 1] = this.#starts[at]! + (sizes.get(at) ?? usual);
  }

  get total(): number {
    return this.#starts.at(-1) ?? 0;
  }

  /** Where one begins; those beyond the last begin at the end. */
  start(at: number): number {
    return this.#starts[Math.max(0, Math.min(at, this.#starts.length - 1))] ?? 0;
  }

  /** The one that covers a pixel. */
  at(pixel: number): number {
    let [low, high] = [0, Math.max(0, this.#starts.length - 2)];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= pixel) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
