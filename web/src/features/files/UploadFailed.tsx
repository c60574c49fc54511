import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import type { How } from "./placing";

export type FailedUpload = { files: readonly File[]; why: string; isTaken: boolean };

/** Files that did not arrive: why, and what can be done about it. */
export function UploadFailed({ failed, onAgain, onLeave }: { failed: FailedUpload; onAgain: (how: How) => void; onLeave: () => void }) {
  return (
    <div className="pane-failed" role="alert">
      <Icon name="alert" size="s" />
      <span className="grow">{failed.files.length === 1 ? <><bdi>{failed.files[0]?.name}</bdi> was</> : `${failed.files.length} files were`} not uploaded: {failed.why}</span>
      {failed.isTaken ? (
        <>
          <Button look="line" onClick={() => onAgain("replace")}>Replace</Button>
          <Button look="line" onClick={() => onAgain("both")}>Keep both</Button>
        </>
      ) : (
        <Button look="line" onClick={() => onAgain("again")}>Try again</Button>
      )}
      <Button icon="x" className="tiny" aria-label="Leave it" onClick={onLeave} />
    </div>
  );
}
