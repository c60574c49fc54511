/** Models by agent, as their makers name them. A start for typing, not a limit: the server says what it allows. Pure. */

const CLAUDE = ["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"];
const GEMINI = ["gemini-3-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"];
const OPENAI = ["gpt-5.2", "gpt-5.1-codex", "gpt-5-mini"];

const BY_AGENT: Record<string, readonly string[]> = { builtin: CLAUDE, "claude-code": CLAUDE, "gemini-cli": GEMINI, codex: OPENAI };

/** What to offer for an agent. */
export const modelsOf = (agent: string): readonly string[] => BY_AGENT[agent] ?? [...CLAUDE, ...OPENAI, ...GEMINI];

const FAMILIES = /(?:^|\/)(?:claude-(?:\d|opus|sonnet|haiku|instant)|gemini-\d|gpt-\d|o\d|codex-mini|warren-demo)/i;

/** Why a name may be wrong, or nothing. */
export function doubtOf(name: string): string | null {
  const model = name.trim();
  if (model === "" || (FAMILIES.test(model) && !/\s/.test(model))) return null;
  return /\s/.test(model) ? "Model names have no spaces." : "Not a model name that Warren knows. Runs fail if the provider does not have it.";
}
