import { WarrenError } from "@warren/react";

/** What went wrong, in the words of the error. */
export const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The same with what to do about it, as sentences. */
export function saidWithHint(error: unknown): string {
  const hint = error instanceof WarrenError ? error.hint : undefined;
  return [said(error), ...(hint ? [hint] : [])].map(sentence).join(" ");
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
