/** How many tokens a model can hold. Only what its maker says: a ring that guessed would lie. */
const WINDOWS: [RegExp, number][] = [
  [/claude.*\[1m\]/, 1_000_000],
  [/claude|anthropic/, 200_000],
  [/gemini/, 1_048_576],
  [/gpt-5/, 400_000],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-4o|o[134]/, 128_000],
];

/** The window of a model, or nothing. */
export function windowOf(model: string | undefined): number | null {
  return WINDOWS.find(([pattern]) => model !== undefined && pattern.test(model.toLowerCase()))?.[1] ?? null;
}
