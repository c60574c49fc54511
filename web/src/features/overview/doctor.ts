// What the server found out about the machine, read as it is.

export type Hint = { problem: string; hint: string };

export function hintsOf(found: Record<string, unknown> | undefined): Hint[] {
  const hints = Array.isArray(found?.hints) ? (found.hints as unknown[]) : [];
  return hints.flatMap((one) => {
    const hint = one as { problem?: unknown; hint?: unknown } | null;
    return typeof hint?.problem === "string" ? [{ problem: hint.problem, hint: typeof hint.hint === "string" ? hint.hint : "" }] : [];
  });
}
