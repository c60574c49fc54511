/**
 * Values by key, in the order in which the keys came first.
 *
 * It is changed in place, because a conversation of 10,000 blocks is too long to copy for each delta; what it shows
 * outside (`keys`, `values`) is frozen and made anew only after a change.
 */
export class Shelf<V> {
  readonly #byKey = new Map<string, V>();
  #keys: readonly string[] | null = null;
  #values: readonly V[] | null = null;

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Puts a value in its key's place; says whether the key is new. */
  put(key: string, value: V): boolean {
    const isNew = !this.#byKey.has(key);
    this.#byKey.set(key, value);
    this.#values = null;
    if (isNew) this.#keys = null;
    return isNew;
  }

  /** Puts values before all others, in this order. A key that is there already keeps its value and moves. */
  lead(entries: readonly (readonly [string, V])[]): void {
    const rest = [...this.#byKey];
    const known = new Map(rest);
    this.#byKey.clear();
    for (const [key, value] of entries) this.#byKey.set(key, known.get(key) ?? value);
    for (const [key, value] of rest) if (!this.#byKey.has(key)) this.#byKey.set(key, value);
    this.#keys = null;
    this.#values = null;
  }

  remove(key: string): boolean {
    if (!this.#byKey.delete(key)) return false;
    this.#keys = null;
    this.#values = null;
    return true;
  }

  /** The same array until a key comes or goes. */
  keys(): readonly string[] {
    return (this.#keys ??= Object.freeze([...this.#byKey.keys()]));
  }

  /** The same array until anything changes. */
  values(): readonly V[] {
    return (this.#values ??= Object.freeze([...this.#byKey.values()]));
  }
}
