// What the server found out about the machine, read as it is: nothing of it is taken for granted. Pure.
import { guardsOf, type Guard } from "../shell/isolation";

export type Hint = { problem: string; hint: string };
export type Model = { format: string; target: string; hasKey: boolean };
export type Findings = { usable: boolean; program: string; guards: Guard[]; hints: Hint[]; models: Model[] };

const record = (value: unknown): Record<string, unknown> => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Reads `GET /api/doctor`: the sandbox backend's own findings are under `isolation`, beside agents and models. */
export function findingsOf(found: Record<string, unknown>): Findings {
  const probe = record(found.isolation);
  return {
    usable: probe.usable === true,
    program: [text(probe.backend), text(probe.version)].filter(Boolean).join(" "),
    guards: guardsOf(probe.isolation ?? null, "machine") ?? [],
    // Those of the sandbox, and what the operator should know of the rest: the same that `warren doctor` prints.
    hints: merged([...list(probe.hints), ...list(found.warnings)].map(record).filter((hint) => text(hint.problem)).map((hint) => ({ problem: text(hint.problem), hint: text(hint.hint) }))),
    models: list(found.models).map(record).map((model) => ({ format: text(model.format), target: text(model.target), hasKey: model.hasKey === true })),
  };
}

/** One fix for several problems is told once. */
function merged(hints: readonly Hint[]): Hint[] {
  return hints.reduce<Hint[]>((all, one) => {
    const last = all.at(-1);
    return last && last.hint === one.hint ? [...all.slice(0, -1), { problem: `${last.problem}; ${one.problem}`, hint: one.hint }] : [...all, one];
  }, []);
}

/** The wire formats that an agent can speak; of those that are not here nothing is known. */
const SPEAKS: Record<string, RegExp> = { builtin: /^Anthropic$/, "claude-code": /^Anthropic$/, codex: /^OpenAiResponses$/, "gemini-cli": /^Gemini$/ };

/** What to tell somebody whose agent will get scripted answers; nothing if a real model answers, or nobody knows. */
export function demoNotice(agent: string, { models, hints }: Findings): string | null {
  const spoken = models.filter((model) => SPEAKS[agent]?.test(model.format) ?? true);
  if (!spoken.length || spoken.some((model) => model.target !== "demo")) return null;
  const provider = providerName(spoken[0]!.format);
  // The built-in agent takes any model that is chosen for it.
  const other = agent === "builtin" ? models.find((model) => model.target !== "demo" && model.hasKey) : undefined;
  if (other) return `No API key is set for ${provider}, the default here: the demo model will answer, with scripted replies at no cost. Choose a model of ${providerName(other.format)}, whose key is set.`;
  const fix = hints.find((hint) => /demo model/.test(hint.problem) && spoken.some((model) => hint.problem.toLowerCase().includes(providerOf(model.format))));
  return `No API key is set for ${provider}: the demo model will answer, with scripted replies at no cost.${fix ? ` For a real model, ${fix.hint.replaceAll("`", "")}.` : ""}`;
}

const PROVIDERS: [RegExp, string][] = [[/^OpenAi/, "OpenAI"], [/^Gemini/, "Google"]];

/** Who is behind a wire format. */
const providerName = (format: string): string => PROVIDERS.find(([pattern]) => pattern.test(format))?.[1] ?? format;

const providerOf = (format: string): string => (/^OpenAi/.test(format) ? "openai" : format.toLowerCase());

const FORMATS: Record<string, string> = { OpenAiChat: "OpenAI chat", OpenAiResponses: "OpenAI responses" };

/** What people call a wire format. */
export const formatName = (format: string): string => (Object.hasOwn(FORMATS, format) ? FORMATS[format]! : format);

/** Who answers calls of one wire format. */
export function answers(model: Model): string {
  if (model.target === "demo") return "demo model: no API key";
  return `${model.target}, ${model.hasKey ? "API key set" : "no API key"}`;
}
