import type { Block } from "@warren/react";
import { memo, type ReactNode } from "react";
import { Avatar } from "~/ui/Avatar";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Markdown } from "~/ui/Markdown";
import { plainText } from "../composer/history";
import { useChat } from "./context";
import { MessageActions } from "./MessageActions";
import { kindOfFile, partsOf, type Part } from "./parts";

type Content = Extract<Block, { type: "user_message" }>["content"];

type Props = {
  content: Content;
  /** Of a message that is in the log. */
  id?: string;
  at?: string;
  state?: "sending" | "failed";
  foot?: ReactNode;
};

/** What a person said, with what they attached. */
export const UserMessage = memo(function UserMessage({ content, id, at, state, foot }: Props) {
  const chat = useChat();
  const text = plainText(content);
  // Agents that keep no name for a message make one of their own, of which no run is known.
  const runId = id?.startsWith("msg-") ? id.slice("msg-".length) : null;
  return (
    <article className="step" aria-label="Your message">
      <span className="node">
        <Avatar />
      </span>
      <div className={`you ${state ?? ""}`} dir="auto">
        {partsOf(content).map((part, n) => (
          <PartView key={n} part={part} />
        ))}
        {foot}
      </div>
      {at !== undefined && (
        <MessageActions at={at} text={text} label="your message">
          {chat.edit && text && <Button icon="pencil" className="tiny" aria-label="Edit message" title="Edit and resend" onClick={() => chat.edit?.(runId, text)} />}
        </MessageActions>
      )}
    </article>
  );
});

function PartView({ part }: { part: Part }) {
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
      <span className="att" title={path}>
        <span className="ic">
          <Icon name={/\.(csv|xlsx?|tsv)$/i.test(name) ? "sheet" : "file"} size="s" />
        </span>
        <span className="grow">
          <b className="cut">
            <bdi>{name}</bdi>
          </b>
          <small className="num">{note ?? kindOfFile(name)}</small>
        </span>
      </span>
    </div>
  );
}

/** Only pictures: anything else in a `data:` address would not be one. */
const imageType = (type: string): string => (/^image\/(png|jpeg|gif|webp)$/.test(type) ? type : "image/png");
