import type { ConnectionState } from "@warren/react";
import { useNow } from "~/lib/clockwork";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";

/** Says that the connection is gone, when it is tried again, and that nothing will be missed. */
export function OfflineBar({ connection, onRetry }: { connection: ConnectionState; onRetry: () => void }) {
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
      <span>Connection lost, trying again {seconds > 0 ? `in ${seconds} s` : "now"}. The agent keeps working; nothing will be missed.</span>
      <span className="grow" />
      <Button className="short" onClick={onRetry}>Try now</Button>
    </div>
  );
}
