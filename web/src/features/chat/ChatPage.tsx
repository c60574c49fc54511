import { useLive, useWarrenClient, WarrenError } from "@warren/react";
import { navigate, type Tab } from "~/lib/router";
import { Button } from "~/ui/Button";
import { Failed, Skeleton, Unread } from "~/ui/Notice";
import { NoticePage } from "../shell/NoticePage";
import { Burger } from "../shell/TopBar";
import { SessionView } from "./SessionView";

type Props = { sessionId: string; tab: Tab | null; subagent: string | null };

/** One session, once it is loaded. */
export function ChatPage({ sessionId, tab, subagent }: Props) {
  const store = useWarrenClient().store(sessionId);
  const status = useLive(sessionId, ["status"], (live) => live.status);
  const session = useLive(sessionId, ["session", "status"], (live) => live.state.session);
  if (status.state === "failed" && !session) return <Missing error={status.error} onRetry={() => store.retryNow()} />;
  if (!session) return <Loading />;
  return <SessionView key={sessionId} sessionId={sessionId} tab={tab} subagent={subagent} />;
}

function Loading() {
  return (
    <>
      <header className="top">
        <Burger />
        <h1 className="muted">Loading…</h1>
      </header>
      <div className="work no-panel">
        <section className="chat" aria-label="Conversation" aria-busy="true">
          <div className="col"><Skeleton rows={8} height={44} /></div>
        </section>
      </div>
    </>
  );
}

function Missing({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const gone = error instanceof WarrenError && error.status === 404;
  return (
    <NoticePage title="Session">
      {gone ? (
        <Failed title="Session not found" action={<Button look="line" onClick={() => navigate("/")}>Start a new one</Button>}>It was deleted, or you don’t have access.</Failed>
      ) : (
        <Unread title="The session could not be loaded" error={error} onAgain={onRetry}>Its agent keeps working.</Unread>
      )}
    </NoticePage>
  );
}
