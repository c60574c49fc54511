import type { ConnectionState } from "@warren/react";
import { useNow } from "~/lib/clockwork";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";

type Props = { connection: ConnectionState; running: boolean; onRetry: () => void };

/** Says that the connection is lost and when it is retried. What the agent does meanwhile, nobody here can know. */
export function OfflineBar({ connection, running, onRetry }: Props) {
  const now = useNow(connection.state === "offline");
  if (connection.state === "refused") {
    const why = connection.error instanceof Error ? connection.error.message : "The server refuses this page.";
    return (
      <div className="offline" role="status">
        <Icon name="alert" size="s" />
        <span>{why}</span>
        <span className="grow" />
        <Button className="short" onClick={() => location.reload()}>Reload</Button>
      </div>
    );
  }
  if (connection.state !== "offline") return null;
  const seconds = Math.max(0, Math.ceil((connection.retryAt - now) / 1000));
  return (
    <div className="offline num" role="status">
      <Icon name="alert" size="s" />
      <span>
        Connection lost. Retrying {seconds > 0 ? `in ${seconds} s` : "now"}. {running ? "The run may have gone on or stopped; the page catches up when the server answers." : "The page catches up when the server answers."}
      </span>
      <span className="grow" />
      <Button className="short" onClick={onRetry}>Retry now</Button>
    </div>
  );
}
