import { useResource, useWarrenClient, WarrenError, type Artifact } from "@warren/react";
import { useState } from "react";
import { Button } from "~/ui/Button";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { usePerson } from "../shell/person";

type Props = { sessionId: string; artifact: Artifact };

/** An app on its own host, in a frame that cannot leave it: its scripts run there, never with this page's origin. */
export function Preview({ sessionId, artifact }: Props) {
  const client = useWarrenClient();
  const { mayRun } = usePerson();
  const [waking, setWaking] = useState(false);
  const grant = useResource(`preview ${sessionId} ${artifact.id}`, () => client.preview(sessionId, artifact.id));
  if (grant.state === "loading" || waking) {
    return <div className="stage-note" role="status"><Skeleton rows={5} height={30} /><p className="muted">{waking ? "Initializing sandbox…" : "Starting the preview…"}</p></div>;
  }
  if (grant.data) {
    return <iframe className="preview" src={grant.data.url} title={`Preview of ${artifact.name}`} sandbox="allow-scripts allow-forms allow-same-origin allow-modals allow-popups" referrerPolicy="no-referrer" allow="" />;
  }
  const isAsleep = grant.error instanceof WarrenError && (grant.error.status === 409 || grant.error.status === 503);
  const wake = async () => {
    setWaking(true);
    await client.startSandbox(sessionId).catch(() => {}); // The preview asked for next says what is wrong.
    await grant.refresh();
    setWaking(false);
  };
  if (isAsleep) {
    return <Empty icon="moon" action={mayRun ? <Button look="line" onClick={() => void wake()}>Start the sandbox</Button> : undefined}>The sandbox is paused, so the app is not running. Its files are kept.</Empty>;
  }
  return (
    <Unread title="The preview did not start" error={grant.error} onAgain={grant.refresh}>{grant.error instanceof WarrenError && grant.error.hint ? `${grant.error.hint}.` : null}</Unread>
  );
}
