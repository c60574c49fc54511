import type { Approval } from "@warren/react";
import { memo, useState } from "react";
import { visible } from "~/lib/ansi";
import { Button } from "~/ui/Button";
import { Step } from "../chat/Step";
import type { Answer } from "./ApprovalCard";
import { Resolved } from "./Resolved";
import { answersOf, questionsOf, type Question } from "./questions";
import { useAnswer } from "./useAnswer";
import { useArming } from "./useArming";

type Props = { approval: Approval; answer: Answer | null };

/** An agent asks a question, or several: numbered options, or one's own words. */
export const QuestionCard = memo(function QuestionCard({ approval, answer }: Props) {
  const questions = questionsOf(approval.detail);
  const [chosen, setChosen] = useState<string[][]>(() => questions.map((question) => (question.multiSelect ? [] : question.options.slice(0, 1).map((option) => option.label))));
  const [own, setOwn] = useState<string[]>(() => questions.map(() => ""));
  const { busy, problem, run } = useAnswer(() => {
    const given = questions.map((_, at) => (own[at]!.trim() ? [own[at]!.trim()] : chosen[at]!));
    return answer ? answer(approval.approvalId, "allow", { answers: answersOf(questions, given) }) : Promise.resolve();
  });
  const { armed, guard } = useArming(!approval.resolution && answer !== null);
  if (approval.resolution) return <Resolved approval={approval} />;
  const put = <T,>(list: T[], at: number, value: T) => list.map((old, i) => (i === at ? value : old));
  return (
    <Step icon="ask" look="acc">
      <form
        className="quest"
        aria-label="Question from the agent"
        data-approval={approval.approvalId}
        tabIndex={-1}
        {...guard}
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
      >
        {questions.map((question, at) => (
          <Choices
            key={at}
            question={question}
            chosen={own[at] ? [] : chosen[at]!}
            disabled={busy || answer === null}
            armed={armed}
            onChoose={(labels) => {
              setChosen(put(chosen, at, labels));
              setOwn(put(own, at, ""));
            }}
            own={own[at]!}
            onOwn={(text) => setOwn(put(own, at, text))}
            last={at === questions.length - 1}
          />
        ))}
        {answer === null && <p className="tool-note">You have read-only access, so you cannot answer.</p>}
        {problem && <p className="tool-note bad" role="alert">{problem}</p>}
      </form>
    </Step>
  );
});

type ChoicesProps = {
  question: Question;
  chosen: string[];
  own: string;
  disabled: boolean;
  armed: boolean;
  last: boolean;
  onChoose: (labels: string[]) => void;
  onOwn: (text: string) => void;
};

function Choices({ question, chosen, own, disabled, armed, last, onChoose, onOwn }: ChoicesProps) {
  const many = question.multiSelect;
  const toggle = (label: string) => onChoose(!many ? [label] : chosen.includes(label) ? chosen.filter((other) => other !== label) : [...chosen, label]);
  return (
    <div role={many ? "group" : "radiogroup"} aria-label={question.question}>
      <div className="hd" dir="auto">{visible(question.question)}</div>
      {question.options.map((option, at) => {
        const on = chosen.includes(option.label);
        return (
          <button key={at} type="button" className={`op ${on ? "on" : ""}`} role={many ? "checkbox" : "radio"} aria-checked={on} disabled={disabled} data-answers="" aria-disabled={!armed} data-key={at < 9 ? String(at + 1) : undefined} onClick={() => toggle(option.label)}>
            <kbd aria-hidden="true">{at + 1}</kbd>
            <span dir="auto">
              {visible(option.label)} <small>{[option.description && `· ${visible(option.description)}`, !many && at === 0 && "· suggested"].filter(Boolean).join(" ")}</small>
            </span>
          </button>
        );
      })}
      <div className="ft">
        <input aria-label="Another answer" placeholder="Or answer in your own words" value={own} disabled={disabled} onChange={(event) => onOwn(event.target.value)} />
        {last && <Button type="submit" look="ink" data-answers="" aria-disabled={!armed} disabled={disabled || (!own.trim() && chosen.length === 0)}>Answer</Button>}
      </div>
    </div>
  );
}
