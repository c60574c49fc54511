import { bytes } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import type { Choice } from "../files/placing";
import type { Upload } from "./useDraft";

type Acts = { onAgain?: (id: number) => void; onChoose: (id: number, choice: Choice) => void; onRemove: (id: number) => void };

/** Files that will go with the message. */
export function Uploads({ uploads, ...acts }: Acts & { uploads: readonly Upload[] }) {
  if (!uploads.length) return null;
  return (
    <ul className="ups" aria-label="Attachments">
      {uploads.map((upload) => <Attachment key={upload.id} upload={upload} {...acts} />)}
    </ul>
  );
}

function Attachment({ upload, onAgain, onChoose, onRemove }: Acts & { upload: Upload }) {
  const { id, name, state } = upload;
  return (
    <li className={`att ${state}`}>
      <span className="ic">
        <Icon name={/\.(csv|xlsx?|tsv)$/i.test(name) ? "sheet" : "file"} size="s" />
      </span>
      <span className="grow">
        <b className="cut"><bdi>{name}</bdi></b>
        <small className="num" role={state === "failed" || state === "taken" ? "alert" : undefined}>{stateWords(upload)}</small>
      </span>
      {state === "failed" && onAgain && <Button look="line" icon="reload" aria-label={`Try again to upload ${name}`} onClick={() => onAgain(id)}>Try again</Button>}
      {state === "taken" && (
        <span className="row" role="group" aria-label={`A file named ${name} already exists`}>
          <Button look="line" aria-label={`Replace the existing ${name}`} onClick={() => onChoose(id, "replace")}>Replace</Button>
          <Button look="line" aria-label={`Keep both files named ${name}`} onClick={() => onChoose(id, "both")}>Keep both</Button>
        </span>
      )}
      <Button icon="x" className="tiny" aria-label={`Remove ${name}`} onClick={() => onRemove(id)} />
    </li>
  );
}

function stateWords({ state, sizeBytes, why }: Upload): string {
  switch (state) {
    case "uploading":
      return "Uploading…";
    case "done":
      return bytes(sizeBytes);
    case "taken":
      return why ?? "A file with this name already exists.";
    case "failed":
      return `Not uploaded: ${why ?? ""}`;
  }
}

/** Why a message cannot go yet, because of one of its files. */
export function whatHolds(upload: Upload): string {
  switch (upload.state) {
    case "failed":
      return `${upload.name} is not uploaded: try again, or remove it`;
    case "taken":
      return `A file named ${upload.name} already exists: replace it, keep both, or remove it`;
    default:
      return "A file is still being uploaded";
  }
}
