// Models to choose from: what the server lists, and what to say of a name that it does not list. Pure.
import type { ModelItem } from "@warren/react";
import { short } from "~/lib/format";

/** One line of the list: a model, the agent's own choice, or the name as it was typed. */
export type ModelOption = { kind: "listed"; model: ModelItem } | { kind: "default" } | { kind: "typed"; id: string };

/** The models that an agent can use. */
export const modelsFor = (agent: string, models: readonly ModelItem[]): ModelItem[] => models.filter((model) => model.agents.includes(agent));

/** Those that have every word of what was typed, whatever its case. */
export function matchingModels(models: readonly ModelItem[], typed: string): ModelItem[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (model: ModelItem) => `${model.id} ${model.displayName ?? ""} ${model.provider}`.toLowerCase();
  return models.filter((model) => words.every((word) => text(model).includes(word)));
}

/** What can be chosen now. A name that is not in the list comes last: Enter takes what is meant more often. */
export function optionsFor(models: readonly ModelItem[], typed: string): ModelOption[] {
  const name = typed.trim();
  const found = matchingModels(models, name).map((model): ModelOption => ({ kind: "listed", model }));
  if (name === "") return [{ kind: "default" }, ...found];
  const isListed = models.some((model) => model.id === name);
  // A name that was typed whole is meant, though others have it in them.
  if (isListed) return found.sort((one, other) => Number(idOf(other) === name) - Number(idOf(one) === name));
  return /\s/.test(name) ? found : [...found, { kind: "typed", id: name }];
}

/** The name that a choice stands for; nothing for the agent's own. */
export const idOf = (option: ModelOption): string => (option.kind === "listed" ? option.model.id : option.kind === "typed" ? option.id : "");

/** The scripted model: it answers where nobody chose a model and there is no key, and whoever asks for it. */
export const DEMO = "warren-demo-1";

/** What is known of the model of a session: what somebody chose for it or its profile, what answered last, and what is listed. */
type Known = { chosen?: string | null; answered?: string; agent: string; models: readonly ModelItem[] | undefined };

/** The model that answers the next message; nothing if only the agent knows. */
export function willAnswer({ chosen, answered, agent, models }: Known): string | undefined {
  if (chosen) return chosen;
  if (!models) return undefined;
  // Any provider may be the one that an ACP agent asks, so the demo model is always among its models.
  const isDemo = modelsFor(agent, models).some((model) => model.id === DEMO);
  if (agent === "acp") return answered;
  if (isDemo) return DEMO;
  // It answered before there was a key.
  return answered === DEMO ? undefined : answered;
}

const dollars = (usd: number): string => `$${usd < 1 ? String(Number(usd.toPrecision(2))) : String(Number(usd.toFixed(2)))}`;

/** What a model costs, for a million tokens. */
export function priceWords({ price }: ModelItem): string {
  if (!price) return "price unknown";
  return price.input === 0 && price.output === 0 ? "free" : `${dollars(price.input)} in, ${dollars(price.output)} out`;
}

/** How much a model can be told at once. */
export const windowWords = ({ contextWindow }: ModelItem): string => (contextWindow ? `${short(contextWindow)} context` : "");

/** Why a name may be wrong, or nothing. */
export function doubtOf(typed: string, models: readonly ModelItem[]): string | null {
  const name = typed.trim();
  if (name === "" || models.some((model) => model.id === name)) return null;
  if (/\s/.test(name)) return matchingModels(models, name).length ? null : "Model names have no spaces.";
  return matchingModels(models, name).length ? null : "No provider lists this model for this agent. Runs fail if the provider does not have it.";
}
