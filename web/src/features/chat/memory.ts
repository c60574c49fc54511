/** What the agent no longer remembers: a restore returns its memory to an earlier version, the conversation stays. Pure. */

/** A version, as far as it matters here; `at` is when it was saved, in milliseconds. */
type Fact = { version: number; restored?: number | null; at: number };

/** Blocks after `from` and before `to` are not in the agent's memory. */
export type Span = { from: number; to: number; /** The version whose memory the agent has instead. */ restored: number };

/** The spans that the agent's memory lacks now, in the order of time. */
export function forgottenSpans(versions: readonly Fact[]): Span[] {
  const inOrder = [...versions].sort((a, b) => a.version - b.version);
  const spans: Span[] = [];
  // Backwards: the memory now is that since the last restore, before it that of the restored version, and so on.
  let last = inOrder.findLast((one) => one.restored != null);
  while (last?.restored != null) {
    const { restored, at, version } = last;
    const target = inOrder.find((one) => one.version === restored);
    // A version that is not listed is older than all that is shown.
    spans.unshift({ from: target?.at ?? -Infinity, to: at, restored });
    const before = Math.min(restored, version - 1);
    last = inOrder.findLast((one) => one.version <= before && one.restored != null);
  }
  return spans;
}

/** Whether a moment is in one of the spans. */
export const isForgotten = (spans: readonly Span[], at: number): boolean => spans.some((span) => at > span.from && at < span.to);
