/** Where rows of unequal and partly unknown heights stand. Pure: whoever draws measures, and tells what it saw. */

/** Heights of rows in order, with the sums that tell which of them are in view. */
export class Heights {
  private keys: readonly string[] = [];
  private tops = new Float64Array(1);
  /** Tops are right up to this row. */
  private settled = 0;
  private readonly known = new Map<string, number>();

  constructor(
    private readonly guess: number,
    private readonly gap = 0,
  ) {}

  /** Takes the rows as they are now. Heights seen before are kept by key. Answers by how much the row `anchor` moved. */
  setKeys(keys: readonly string[], anchor?: string): number {
    if (keys === this.keys) return 0;
    const before = anchor === undefined ? -1 : this.indexOf(anchor);
    const top = before < 0 ? 0 : this.top(before);
    this.replace(keys);
    const after = before < 0 ? -1 : this.indexOf(anchor!);
    return after < 0 ? 0 : this.top(after) - top;
  }

  private replace(keys: readonly string[]) {
    let same = 0;
    while (same < keys.length && same < this.keys.length && keys[same] === this.keys[same]) same++;
    if (this.tops.length < keys.length + 1) {
      const larger = new Float64Array(Math.max(keys.length + 1, this.tops.length * 2));
      larger.set(this.tops);
      this.tops = larger;
    }
    this.keys = keys;
    this.settled = Math.min(this.settled, same);
  }

  /** Tells how high a row is. Answers by how much it changed. */
  measure(key: string, height: number): number {
    const before = this.known.get(key) ?? this.guess;
    if (before === height && this.known.has(key)) return 0;
    this.known.set(key, height);
    const at = this.indexOf(key);
    if (at >= 0) this.settled = Math.min(this.settled, at);
    return height - before;
  }

  /** Forgets what was measured, as when the width changed. */
  forget() {
    this.known.clear();
    this.settled = 0;
  }

  /** The upper edge of a row; of the row behind the last: the whole height. */
  top(index: number): number {
    this.settle(index);
    return this.tops[index] ?? 0;
  }

  get total(): number {
    return this.top(this.keys.length);
  }

  /** The row at a height. */
  at(y: number): number {
    this.settle(this.keys.length);
    let low = 0;
    let high = this.keys.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.tops[mid]! <= y) low = mid;
      else high = mid - 1;
    }
    return Math.max(0, low);
  }

  /** The rows to draw for a view of this height at this place, with half as much again on both sides. */
  window(scroll: number, view: number, most: number): { from: number; to: number } {
    if (!this.keys.length) return { from: 0, to: 0 };
    const spare = view * 0.75;
    const from = this.at(Math.max(0, scroll - spare));
    const to = Math.min(this.keys.length, this.at(scroll + view + spare) + 1, from + most);
    return { from, to };
  }

  /** Whether the rows drawn fill the view and a little more, so that nothing need be drawn anew. */
  covers(from: number, to: number, scroll: number, view: number): boolean {
    if (!this.keys.length) return true;
    const above = from === 0 || this.top(from) <= Math.max(0, scroll - view * 0.25);
    const below = to >= this.keys.length || this.top(to) >= scroll + view * 1.25;
    return above && below;
  }

  private indexOf(key: string): number {
    // Rows that are measured are nearly always near the end.
    return this.keys.lastIndexOf(key);
  }

  private settle(until: number) {
    for (let at = this.settled; at < until; at++) {
      this.tops[at + 1] = this.tops[at]! + (this.known.get(this.keys[at]!) ?? this.guess) + this.gap;
    }
    this.settled = Math.max(this.settled, Math.min(until, this.keys.length));
  }
}

/** Whether a view follows what is new. Only reaching the end attaches it again, never time. */
export class Follow {
  static readonly NEAR = 64;
  following = true;

  /** The person moved the view. */
  moved(distanceToEnd: number, upwards: boolean) {
    if (distanceToEnd <= Follow.NEAR && !upwards) this.following = true;
    else if (upwards && distanceToEnd > 1) this.following = false;
  }

  /** The person did what means “let me read”: a selection, a drag, Page Up. */
  detach() {
    this.following = false;
  }

  /** The person asked for the end, or sent something. */
  attach() {
    this.following = true;
  }
}
