import { useResource, useWarrenClient, type Version } from "@warren/react";
import { plural } from "~/lib/format";
import { Confirm } from "~/ui/Confirm";
import { toast } from "~/ui/toasts";
import { uploadsLost } from "./uploadsOf";

type Props = { sessionId: string; version: number; restore: (version: number) => Promise<Version>; onClose: () => void };

/** Names of uploads that are listed one by one. */
const MAX_NAMED = 8;

/** Asks before a restore: what it changes, which uploads it removes, and what stays. */
export function RestoreDialog({ sessionId, version, restore, onClose }: Props) {
  return (
    <Confirm
      title={`Restore v${version}?`}
      action={`Restore v${version}`}
      onClose={onClose}
      onConfirm={async () => {
        const made = await restore(version);
        toast({ title: `Restored v${version}`, text: `Saved as v${made.version}. Later versions stay in the history.`, icon: "undo" });
      }}
    >
      <p>Files and the agent’s memory return to v{version} as a new version. Later versions stay in the history.</p>
      <p>The conversation stays on screen. The part after v{version} is marked, because the agent does not remember it.</p>
      <LostUploads sessionId={sessionId} version={version} />
    </Confirm>
  );
}

function LostUploads({ sessionId, version }: { sessionId: string; version: number }) {
  const client = useWarrenClient();
  const lost = useResource(`lost uploads ${sessionId} ${version}`, () => uploadsLost(client, sessionId, version), sessionId);
  if (lost.state === "failed") return <p className="warn-text">Uploads in /user-input that are not in v{version} are removed. They could not be listed.</p>;
  if (!lost.data || lost.data.length === 0) return null;
  const more = lost.data.length - MAX_NAMED;
  return (
    <div className="lost" role="group" aria-label="Uploads that are removed">
      <p>{plural(lost.data.length, "upload")} {lost.data.length === 1 ? "is" : "are"} not in v{version} and will be removed from /user-input:</p>
      <ul>
        {lost.data.slice(0, MAX_NAMED).map((name) => <li key={name}><bdi>{name}</bdi></li>)}
        {more > 0 && <li>and {more} more</li>}
      </ul>
      <p>To get them back, restore the version before this restore, or upload them again.</p>
    </div>
  );
}
