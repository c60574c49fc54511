import { Icon } from "~/ui/Icon";
import type { IconName } from "~/ui/IconSprite";

const IDEAS: readonly { icon: IconName; lead: string; rest: string; text: string }[] = [
  { icon: "app", lead: "Build a dashboard", rest: "of sales, with charts you can share", text: "Build me a dashboard of our sales" },
  { icon: "term", lead: "Find why a test is flaky", rest: "and propose a fix as a diff", text: "Find why a test is flaky and propose a fix as a diff" },
  { icon: "slides", lead: "Make slides from a document", rest: ", ten pages at most", text: "Make slides from the attached document, ten pages at most" },
  { icon: "list", lead: "Ask a subagent for a review", rest: "of what is in the workspace", text: "Ask a subagent for a review" },
];

/** Prompts to begin with. */
export function Ideas({ onPick }: { onPick: (text: string) => void }) {
  return (
    <div className="ideas" role="group" aria-label="Ideas">
      {IDEAS.map((idea) => (
        <button key={idea.text} type="button" onClick={() => { onPick(idea.text); document.getElementById("msg")?.focus(); }}>
          <Icon name={idea.icon} />
          <span className="grow cut"><b>{idea.lead}</b>{idea.rest.startsWith(",") ? "" : " "}{idea.rest}</span>
          <Icon name="right" size="s" />
        </button>
      ))}
    </div>
  );
}
