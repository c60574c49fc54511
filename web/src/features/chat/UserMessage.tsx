import type { Block } from "@warren/react";
import { memo, type ReactNode } from "react";
import { Icon } from "~/ui/Icon";
import { Markdown } from "~/ui/Markdown";
import { Avatar } from "~/ui/Avatar";

type Content = Extract<Block, { type: "user_message" }>["content"];

/** What a person said, with what they attached. */
export const UserMessage = memo(function UserMessage({ content, state, foot }: { content: Content; state?: "sending" | "failed"; foot?: ReactNode }) {
  const parts = typeof content === "string" ? [{ text: content }] : content;
  return (
    <article className="step" aria-label="Your message">
      <span className="node">
        <Avatar />
      </span>
      <div className={`you ${state ?? ""}`} dir="auto">
        {parts.map((part, at) => (
          <Part key={at} part={part} />
        ))}
        {foot}
      </div>
    </article>
  );
});

function Part({ part }: { part: Exclude<Content, string>[number] }) {
  if ("text" in part) return <Markdown text={part.text} />;
  if ("image" in part) {
    return <img className="att-img" src={`data:${imageType(part.mediaType)};base64,${part.image}`} alt="Attached picture" />;
  }
  return <Attachment path={part.file} />;
}

/** A file that was uploaded before it was named in a message. */
export function Attachment({ path, note }: { path: string; note?: string }) {
  const name = path.split("/").at(-1) ?? path;
  return (
    <div>
      <span className="att">
        <span className="ic">
          <Icon name={/\.(csv|xlsx?|tsv)$/i.test(name) ? "sheet" : "file"} size="s" />
        </span>
        <span className="grow">
          <b className="cut">
            <bdi>{name}</bdi>
          </b>
          <small className="num">{note ?? path}</small>
        </span>
      </span>
    </div>
  );
}

/** Only pictures: anything else in a `data:` address would not be one. */
const imageType = (type: string): string => (/^image\/(png|jpeg|gif|webp)$/.test(type) ? type : "image/png");
