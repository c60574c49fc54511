import type { ApprovalRule } from "@warren/react";
import { useId, useState } from "react";
import { Button } from "~/ui/Button";
import { lineOf, patternOf, scopeOf } from "./rules";

type Props = {
  rules: readonly ApprovalRule[];
  isCommand: boolean;
  isFile: boolean;
  /** Of the button that grants. */
  answers: Record<string, unknown>;
  onGrant: (rule: ApprovalRule) => void;
  onCancel: () => void;
};

/** What is to be allowed for the rest of the session: chosen, edited, and shown as it will count, before it is sent. */
export function RuleForm({ rules, isCommand, isFile, answers, onGrant, onCancel }: Props) {
  const [at, setAt] = useState(0);
  const [edited, setEdited] = useState<Record<number, string>>({});
  const group = useId();
  const of = (n: number): ApprovalRule => ({ ...rules[n]!, pattern: edited[n] ?? rules[n]!.pattern });
  const chosen = of(at);
  return (
    <form
      className="rules"
      aria-label="Always allow"
      onSubmit={(event) => {
        event.preventDefault();
        onGrant(chosen);
      }}
    >
      <p>Allow without asking, for the rest of this session:</p>
      {rules.map((rule, n) => (
        <div key={rule.scope} className="row">
          <label>
            <input type="radio" name={group} autoFocus={n === 0} checked={n === at} onChange={() => setAt(n)} />
            {scopeOf(rule, isCommand, isFile)}
          </label>
          {rule.scope === "prefix" || rule.scope === "directory" ? (
            <input className="inp-line mono grow" aria-label={scopeOf(rule, isCommand, isFile)} spellCheck={false} value={of(n).pattern} onFocus={() => setAt(n)} onChange={(event) => setEdited({ ...edited, [n]: event.target.value })} />
          ) : (
            rule.scope === "exact" && <code className="mono cut" dir="ltr">{patternOf(rule)}</code>
          )}
        </div>
      ))}
      <p className="grants">
        Will allow <code className="mono" dir="ltr">{lineOf(chosen)}</code>
        {chosen.scope === "prefix" && ", as a single command without pipes, redirections or other shell syntax"}
      </p>
      <div className="ac">
        <Button type="submit" look="ink" {...answers}>Always allow this</Button>
        <Button look="line" onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
