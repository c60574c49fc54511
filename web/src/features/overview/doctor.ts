// What the server found out about the machine, read as it is: nothing of it is taken for granted. Pure.
import { guardsOf, type Guard } from "../shell/isolation";

export type Hint = { problem: string; hint: string };
export type Model = { format: string; target: string; hasKey: boolean };
export type Findings = { usable: boolean; program: string; guards: Guard[]; hints: Hint[]; agents: string[]; models: Model[] };

const record = (value: unknown): Record<string, unknown> => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Reads `GET /api/doctor`: the sandbox backend's own findings are under `isolation`, beside agents and models. */
export function findingsOf(found: Record<string, unknown>): Findings {
  const probe = record(found.isolation);
  return {
    usable: probe.usable === true,
    program: [text(probe.backend), text(probe.version)].filter(Boolean).join(" "),
    guards: guardsOf(probe.isolation ?? null) ?? [],
    hints: list(probe.hints).map(record).filter((hint) => text(hint.problem)).map((hint) => ({ problem: text(hint.problem), hint: text(hint.hint) })),
    agents: list(found.agents).map(text).filter(Boolean),
    models: list(found.models).map(record).map((model) => ({ format: text(model.format), target: text(model.target), hasKey: model.hasKey === true })),
  };
}

const FORMATS: Record<string, string> = { OpenAiChat: "OpenAI chat", OpenAiResponses: "OpenAI responses" };

/** What people call a wire format. */
export const formatName = (format: string): string => (Object.hasOwn(FORMATS, format) ? FORMATS[format]! : format);

/** Who answers calls of one wire format. */
export function answers(model: Model): string {
  if (model.target === "demo") return "the demo model, which needs no key";
  return `${model.target}${model.hasKey ? ", with a key" : ", without a key"}`;
}
