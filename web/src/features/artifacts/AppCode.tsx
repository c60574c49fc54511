import { useResource, useWarrenClient } from "@warren/react";
import { useState } from "react";
import { visible } from "~/lib/ansi";
import { Icon } from "~/ui/Icon";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { iconOf } from "../viewers/kinds";
import { Viewer } from "../viewers/Viewer";

type Props = { sessionId: string; folder: string; stamp: unknown };

/** The files that an app is made of, one level at a time, as text. */
export function AppCode({ sessionId, folder, stamp }: Props) {
  const client = useWarrenClient();
  const [inside, setInside] = useState(folder);
  const [chosen, setChosen] = useState<string | null>(null);
  const listing = useResource(`app ${sessionId} ${inside}`, () => client.files(sessionId, inside), stamp);
  if (listing.state === "loading" && !listing.data) return <Skeleton rows={6} height={22} />;
  if (!listing.data) {
    return <Unread title="The app’s files could not be read" error={listing.error} onAgain={listing.refresh} />;
  }
  const { entries } = listing.data;
  const files = entries.filter((entry) => entry.kind === "file");
  const shown = files.find((file) => file.path === chosen) ?? files.find((file) => /^index\.|^main\./.test(file.name)) ?? files[0];
  const open = (path: string) => {
    setChosen(null);
    setInside(path);
  };
  return (
    <div className="app-code">
      <div className="app-files" role="group" aria-label="Files of the app">
        {inside !== folder && <button type="button" onClick={() => open(inside.split("/").slice(0, -1).join("/"))}><Icon name="folder" size="s" />..</button>}
        {entries.filter((entry) => entry.kind === "directory").map((entry) => <button key={entry.path} type="button" onClick={() => open(entry.path)}><Icon name="folder" size="s" /><bdi>{visible(entry.name)}</bdi></button>)}
        {files.map((file) => <button key={file.path} type="button" aria-pressed={file === shown} onClick={() => setChosen(file.path)}><Icon name={iconOf(file.path)} size="s" /><bdi>{visible(file.name)}</bdi></button>)}
      </div>
      {shown ? (
        <Viewer key={shown.path} id={`app file ${sessionId} ${shown.path}`} path={shown.path} as="text" stamp={stamp} load={() => client.readFile(sessionId, shown.path)} download={`/api/sessions/${encodeURIComponent(sessionId)}/fs/read?path=${encodeURIComponent(shown.path)}`} />
      ) : (
        <Empty icon="folder">This folder is empty.</Empty>
      )}
    </div>
  );
}
