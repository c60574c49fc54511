import { useWarrenClient, type SessionListItem } from "@warren/react";
import { navigate } from "~/lib/router";
import { Confirm } from "~/ui/Confirm";
import { ForkDialog } from "../sessions/ForkDialog";
import { nameOf } from "../sessions/families";
import { RestoreDialog } from "../versions/RestoreDialog";

/** What the page asks about the session in view. */
export type Asked = { about: "fork" | "restore"; version: number } | { about: "delete" } | null;

type Props = { session: SessionListItem; asked: Asked; onClose: () => void };

/** The dialog that is open over a conversation, if there is one. */
export function ChatDialogs({ session, asked, onClose }: Props) {
  const client = useWarrenClient();
  const { sessionId } = session;
  switch (asked?.about) {
    case undefined:
      return null;
    case "fork":
      return <ForkDialog session={session} version={asked.version} onClose={onClose} />;
    case "delete":
      return (
        <Confirm title={`Delete “${nameOf(session)}”?`} action="Delete" onClose={onClose} onConfirm={async () => { await client.eraseSession(sessionId); navigate("/"); }}>
          Its conversation, versions and files are deleted. This cannot be undone. Its forks are kept.
        </Confirm>
      );
    case "restore":
      return <RestoreDialog sessionId={sessionId} version={asked.version} restore={(version) => client.restore(sessionId, version)} onClose={onClose} />;
  }
}
