import { bytes } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import type { Upload } from "./useDraft";

/** Files that will go with the message. */
export function Uploads({ uploads, onRemove }: { uploads: readonly Upload[]; onRemove: (id: number) => void }) {
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
            <small className="num">{{ uploading: "Uploading…", done: bytes(upload.sizeBytes), failed: `Not uploaded: ${upload.why ?? ""}` }[upload.state]}</small>
          </span>
          <Button icon="x" className="tiny" aria-label={`Remove ${upload.name}`} onClick={() => onRemove(upload.id)} />
        </li>
      ))}
    </ul>
  );
}
