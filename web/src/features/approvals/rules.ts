/** What a rule allows, in words. Pure. */
import type { ApprovalRule } from "@warren/react";
import { exactly } from "~/lib/ansi";

/** What stands before the pattern of a rule. */
export function scopeOf(rule: ApprovalRule, isCommand: boolean, isFile: boolean): string {
  switch (rule.scope) {
    case "exact":
      return isCommand ? "Exactly this command" : isFile ? "This file, whatever the content" : "Exactly this input";
    case "prefix":
      return "Single commands that begin with";
    case "directory":
      return "Files in this directory";
    case "tool":
      return `Everything ${exactly(rule.tool)} does`;
  }
}

/** The pattern as it is compared: `git *`, `/outputs/`, or the text itself. */
export function patternOf(rule: ApprovalRule): string {
  if (rule.scope === "prefix") return `${exactly(rule.pattern.replace(/ \*$/, ""))} *`;
  if (rule.scope === "directory") return `${exactly(rule.pattern.replace(/\/$/, ""))}/`;
  return exactly(rule.pattern);
}

/** A rule in one line: its tool and its pattern. */
export const lineOf = (rule: ApprovalRule): string => `${exactly(rule.tool)}: ${rule.scope === "tool" ? "everything" : patternOf(rule)}`;
