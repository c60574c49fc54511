import { Markdown } from "~/ui/Markdown";

export const MarkdownView = ({ text }: { text: string }) => (
  <div className="prose-view say" tabIndex={0} role="region" aria-label="Text">
    <Markdown text={text} />
  </div>
);
