import { bytes } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import type { Upload } from "./useDraft";

type Props = { uploads: readonly Upload[]; onAgain?: (id: number) => void; onRemove: (id: number) => void };

/** Files that will go with the message. */
export function Uploads({ uploads, onAgain, onRemove }: Props) {
  if (!uploads.length) return null;
  return (
    <ul className="ups" aria-label="Attachments">
      {uploads.map((upload) => (
        <li key={upload.id} className={`att ${upload.state}`}>
          <span className="ic">
            <Icon name={/\.(csv|xlsx?|tsv)$/i.test(upload.name) ? "sheet" : "file"} size="s" />
          </span>
          <span className="grow">
            <b className="cut"><bdi>{upload.name}</bdi></b>
            <small className="num" role={upload.state === "failed" ? "alert" : undefined}>{{ uploading: "Uploading…", done: bytes(upload.sizeBytes), failed: `Not uploaded: ${upload.why ?? ""}` }[upload.state]}</small>
          </span>
          {upload.state === "failed" && onAgain && <Button look="line" icon="reload" aria-label={`Upload ${upload.name} again`} onClick={() => onAgain(upload.id)}>Try again</Button>}
          <Button icon="x" className="tiny" aria-label={`Remove ${upload.name}`} onClick={() => onRemove(upload.id)} />
        </li>
      ))}
    </ul>
  );
}
