// A profile between its whole form and the fields of a form. Pure.
import type { AgentProfile } from "@warren/react";

export type ProfileForm = { name: string; description: string; model: string; systemPrompt: string; egressAllow: string[]; environment: string[] };

export const toForm = (profile: AgentProfile): ProfileForm => ({
  name: profile.name ?? "",
  description: profile.description ?? "",
  model: profile.model ?? "",
  systemPrompt: profile.systemPrompt ?? "",
  egressAllow: profile.egressAllow ?? [],
  environment: Object.entries(profile.environmentVariables ?? {}).map(([name, value]) => `${name}=${value}`),
});

/** The profile with the form's fields in it; what the form does not show stays. */
export function fromForm(profile: AgentProfile, form: ProfileForm): AgentProfile {
  const environment = form.environment.filter((line) => line.trim() !== "").map((line) => {
    const cut = line.indexOf("=");
    return cut < 0 ? [line, ""] : [line.slice(0, cut), line.slice(cut + 1)];
  });
  return {
    ...profile,
    name: form.name || undefined,
    description: form.description || undefined,
    model: form.model || undefined,
    systemPrompt: form.systemPrompt || undefined,
    egressAllow: form.egressAllow,
    environmentVariables: Object.fromEntries(environment),
  };
}

const ID = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;
const HOST = /^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*=/;

/** What is wrong with a profile's id, or nothing. */
export const problemOfId = (id: string): string | null =>
  ID.test(id) ? null : "An ID has letters, digits, dots, dashes and underscores, and begins with a letter or digit, such as code-review.";

/** What is wrong with the fields of a form, line by line; the server would take some of it and the agent none. */
export function problemsOf(form: ProfileForm): string[] {
  const lines = (all: readonly string[]) => all.map((line) => line.trim()).filter(Boolean);
  return [
    ...lines(form.egressAllow).filter((host) => !HOST.test(host)).map((host) => `“${host}” is not a host. Write it as example.com, *.example.com or example.com:8443.`),
    ...lines(form.environment).filter((line) => !VARIABLE.test(line)).map((line) => `“${line}” is not a variable. Write it as NAME=value.`),
  ];
}

/** An administrator writes every profile, who works in a project those of the project. */
export const mayWriteProfile = (scope: string, profile: AgentProfile): boolean =>
  scope === "admin" || (!!profile.projectId && scope === `project:${profile.projectId}`);

/** The profiles a new session can be given: what an administrator starts is in no project that was chosen, so of no project's. */
export const profilesToStartWith = (scope: string, profiles: readonly AgentProfile[]): readonly AgentProfile[] =>
  scope.startsWith("project:") ? profiles : profiles.filter((profile) => !profile.projectId);

export const linesOf = (text: string): string[] => (text === "" ? [] : text.split("\n"));

export function parseProfile(text: string): AgentProfile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`Not valid JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("A profile is an object: { … }");
  return value as AgentProfile;
}
