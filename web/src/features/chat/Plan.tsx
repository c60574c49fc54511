import { memo } from "react";
import { useOpened } from "~/lib/opened";
import { Icon } from "~/ui/Icon";
import { Step } from "./Step";
import type { PlanStep } from "./tools";

const LOOK = { done: "d", now: "n", open: "" } as const;
const WORD = { done: "Done", now: "Now", open: "Open" } as const;

/** A plan: open while it is the one that counts; closed it shows the step that is under way. */
export const Plan = memo(function Plan({ id, steps, latest, live }: { id: string; steps: PlanStep[]; latest: boolean; live: boolean }) {
  const [open, setOpen] = useOpened(id, latest);
  const done = steps.filter((step) => step.state === "done").length;
  const now = steps.find((step) => step.state === "now");
  if (!latest && !open) {
    return (
      <Step icon="list">
        <details className="tool" open={false} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            <b>Plan</b>
            <span className="muted num">{`${done} of ${steps.length}`}</span>
            {now && <span className="cut sub">{now.text}</span>}
            <span className="meta">
              <Icon name="right" size="xs" className="chev" />
            </span>
          </summary>
        </details>
      </Step>
    );
  }
  return (
    <Step icon="list" look="rg0">
      <details className="todo" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          Plan
          <span className="bar" aria-hidden="true">
            {steps.slice(0, 24).map((step, at) => (
              <i key={at} className={LOOK[step.state]} />
            ))}
          </span>
          <span className="muted num plan-n">{`${done} of ${steps.length}`}</span>
          {!open && now && <span className="cut sub plan-n">{now.text}</span>}
          <span className="grow" />
          <Icon name="right" size="xs" className="chev" />
        </summary>
        <ol>
          {steps.map((step, at) => (
            <li key={at} className={step.state === "now" && !live ? "" : LOOK[step.state]}>
              <span className="bx" role="img" aria-label={WORD[step.state]}>
                {step.state === "done" && <Icon name="tick" />}
              </span>
              <span dir="auto">{step.text}</span>
            </li>
          ))}
        </ol>
      </details>
    </Step>
  );
});
