import { useWarrenClient, type SessionListItem } from "@warren/react";
import { navigate } from "~/lib/router";
import { Confirm } from "~/ui/Confirm";
import { ForkDialog } from "../sessions/ForkDialog";
import { nameOf } from "../sessions/families";

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
          Its conversation, versions and files are deleted. This cannot be undone. Forks of it stay.
        </Confirm>
      );
    case "restore":
      return (
        <Confirm title={`Restore v${asked.version}?`} action={`Restore v${asked.version}`} onClose={onClose} onConfirm={() => client.restore(sessionId, asked.version)}>
          Files and the agent’s memory return to v{asked.version} as a new version. Later versions stay in the history, and the conversation stays on screen.
        </Confirm>
      );
  }
}
