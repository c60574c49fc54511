import type { ReactNode } from "react";
import { bytes as size } from "~/lib/format";
import { lazily } from "~/ui/lazily";
import { Empty, Failed, Skeleton, Unread } from "~/ui/Notice";
import { CodeView } from "./CodeView";
import { CsvView } from "./CsvView";
import { ImageView } from "./ImageView";
import { isOffice, viewOf, type View } from "./kinds";
import type { Near } from "./markdown/Picture";
import { OfficeView } from "./office/OfficeView";
import { asText, TooLong, useContent } from "./useContent";

const LOADING = <Skeleton rows={8} height={24} />;

// Loaded when one is first opened.
const PdfView = lazily(async () => (await import("./pdf/PdfView")).default, LOADING);
const DocxView = lazily(async () => (await import("./docx/DocxView")).default, LOADING);
const MarkdownView = lazily(async () => (await import("./markdown/MarkdownView")).default, LOADING);
const NotebookView = lazily(async () => (await import("./notebook/NotebookView")).default, LOADING);
const SheetView = lazily(async () => (await import("./sheet/SheetView")).default, LOADING);
const SlidesView = lazily(async () => (await import("./SlidesView")).default, LOADING);

type Props = {
  /** Names the thing read, in this page. */
  id: string;
  path: string;
  load: () => Promise<Response>;
  /** Read again when it changes. */
  stamp?: unknown;
  as?: View;
  /** Lines that are new, for code. */
  marked?: ReadonlySet<number>;
  /** Reads another file of the same session, for images of a document. */
  near?: Near;
  /** Has the server convert it to PDF, for office documents. */
  convert?: () => Promise<Response>;
  download: string;
};

/** Shows a file by its kind. Everything in it is data: nothing of it runs. */
export function Viewer({ convert, ...props }: Props) {
  const view = props.as ?? viewOf(props.path);
  if (!convert || !isOffice(view)) return <Own {...props} view={view} />;
  return <OfficeView id={props.id} view={view} convert={convert} stamp={props.stamp} own={view === "office" ? null : <Own {...props} view={view} />} download={<Download href={props.download} />} />;
}

/** A file as the page draws it by itself. */
function Own({ id, path, load, stamp, view, marked, near, download }: Omit<Props, "as" | "convert"> & { view: View }) {
  const content = useContent(id, load, stamp);
  if (content.state === "loading") return <Skeleton rows={10} height={20} />;
  if (!content.data) {
    if (content.error instanceof TooLong) return <Failed title="Too large to preview" action={<Download href={download} />}>The file has {size(content.error.sizeBytes)}. Download it to open it elsewhere.</Failed>;
    return <Unread title="The file could not be read" error={content.error} onAgain={content.refresh} more={<Download href={download} />} />;
  }
  const { bytes } = content.data;
  const text = ["text", "markdown", "csv", "notebook"].includes(view) ? asText(bytes) : null;
  if (view === "image") return <ImageView path={path} bytes={bytes} />;
  if (text !== null && view === "markdown") return <MarkdownView text={text} path={path} near={near} />;
  if (text !== null && view === "notebook") return <NotebookView text={text} path={path} near={near} />;
  if (text !== null && view === "csv") return <CsvView path={path} text={text} />;
  if (text !== null) return <CodeView path={path} text={text} marked={marked} />;
  const rich: Partial<Record<View, ReactNode>> = {
    pdf: <PdfView bytes={bytes} />, docx: <DocxView bytes={bytes} />, sheet: <SheetView bytes={bytes} />, slides: <SlidesView bytes={bytes} />,
  };
  if (rich[view]) return rich[view];
  return <Empty icon="file" action={<Download href={download} />}>No preview for this kind of file ({size(bytes.length)}).</Empty>;
}

const Download = ({ href }: { href: string }) => <a className="btn line" href={href} download>Download</a>;
