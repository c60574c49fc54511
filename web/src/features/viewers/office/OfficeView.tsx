import { WarrenError } from "@warren/react";
import { useState, type ReactNode } from "react";
import { lazily } from "~/ui/lazily";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { Segment } from "~/ui/Segment";
import { type View } from "../kinds";
import { useContent, type Content } from "../useContent";
import { choices, firstDrawn, type Drawer } from "./drawers";
import "./office.css";

const PdfView = lazily(async () => (await import("../pdf/PdfView")).default, <Skeleton rows={8} height={24} />);

type Props = {
  id: string;
  view: View;
  /** Has the server convert the document to PDF. */
  convert: () => Promise<Response>;
  stamp: unknown;
  /** The document as the page draws it, if it can. */
  own: ReactNode | null;
  download: ReactNode;
};

/** What somebody chose, for documents of this kind, until the page is loaded again. */
const chosen = new Map<View, Drawer>();

/** An office document: drawn by LibreOffice on the server, or by the page itself. Says which, and why if it is not the chosen one. */
export function OfficeView({ id, view, convert, stamp, own, download }: Props) {
  const [drawer, setDrawer] = useState<Drawer>(own === null ? "libreoffice" : (chosen.get(view) ?? firstDrawn(view)));
  const choose = (next: Drawer) => {
    chosen.set(view, next);
    setDrawer(next);
  };
  const bar: Bar = (shown, words, onAgain) => (
    <div className="office-bar">
      {own !== null && <Segment label="Drawn by" value={shown} choices={choices} onChange={(next) => (next === drawer && next !== shown ? onAgain?.() : choose(next))} />}
      <span className="muted grow" role="status">{words}</span>
    </div>
  );
  if (drawer === "warren") return <>{bar("warren", "Drawn by Warren in the browser")}{own}</>;
  return <Converted id={id} convert={convert} stamp={stamp} bar={bar} own={own} download={download} />;
}

/** The line above a document: who draws it, and the choice. `onAgain` has the chosen one try again where the other draws. */
type Bar = (shown: Drawer, words: ReactNode, onAgain?: () => unknown) => ReactNode;

type ConvertedProps = Pick<Props, "id" | "convert" | "stamp" | "own" | "download"> & { bar: Bar };

function Converted({ id, convert, stamp, bar, own, download }: ConvertedProps) {
  const content = useContent(`${id} as PDF`, convert, stamp);
  if (content.data) return <>{bar("libreoffice", drawnBy(content.data))}<PdfView bytes={content.data.bytes} /></>;
  if (content.state === "loading") return <>{bar("libreoffice", "LibreOffice converts the document…")}<Skeleton rows={10} height={20} /></>;
  const { error } = content;
  if (own !== null) return <>{bar("warren", `Drawn by Warren in the browser. ${reason(error)}`, content.refresh)}{own}</>;
  if (error instanceof WarrenError && error.code === "CONVERTER_MISSING") return <Empty icon="doc" action={download}>No preview: {error.message}. {error.hint}</Empty>;
  return <Unread title="The document could not be converted" error={error} onAgain={content.refresh} more={download} />;
}

const drawnBy = (content: Content): string => `Drawn by ${content.converter ?? "LibreOffice"} on the server`;

/** Why LibreOffice did not draw it. */
function reason(error: unknown): string {
  const message = error instanceof Error ? error.message.replace(/\.$/, "") : "The conversion failed";
  return `${message[0]?.toUpperCase() ?? ""}${message.slice(1)}.`;
}
