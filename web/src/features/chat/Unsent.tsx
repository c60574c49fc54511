import type { PendingMessage } from "@warren/react";
import { Button } from "~/ui/Button";
import { useChat } from "./context";
import { UserMessage } from "./UserMessage";

/** A message that the log does not hold yet: on its way, or not taken. */
export function Unsent({ message }: { message: PendingMessage }) {
  const chat = useChat();
  if (message.state !== "failed") return <UserMessage content={message.content} state="sending" />;
  const why = message.error instanceof Error ? message.error.message : String(message.error);
  return (
    <UserMessage
      content={message.content}
      state="failed"
      foot={
        <div className="unsent" role="alert">
          <span>Not sent: {why}</span>
          <Button look="line" onClick={() => chat.resend(message.key)}>Send again</Button>
          <Button onClick={() => chat.discard(message.key)}>Discard</Button>
        </div>
      }
    />
  );
}
