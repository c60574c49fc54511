import type { ReactNode } from "react";
import { bytes as size } from "~/lib/format";
import { lazily } from "~/ui/lazily";
import { Empty, Failed, Skeleton, Unread } from "~/ui/Notice";
import { CodeView } from "./CodeView";
import { CsvView } from "./CsvView";
import { ImageView } from "./ImageView";
import { viewOf, type View } from "./kinds";
import { MarkdownView } from "./MarkdownView";
import { asText, TooLong, useContent } from "./useContent";

const LOADING = <Skeleton rows={8} height={24} />;

// Loaded when one is first opened.
const PdfView = lazily(async () => (await import("./PdfView")).default, LOADING);
const DocxView = lazily(async () => (await import("./DocxView")).default, LOADING);
const SheetView = lazily(async () => (await import("./SheetView")).default, LOADING);
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
  download: string;
};

/** Shows a file by its kind. Everything in it is data: nothing of it runs. */
export function Viewer({ id, path, load, stamp, as, marked, download }: Props) {
  const view = as ?? viewOf(path);
  const content = useContent(id, load, stamp);
  if (content.state === "loading") return <Skeleton rows={10} height={20} />;
  if (!content.data) {
    if (content.error instanceof TooLong) return <Failed title="Too long to show" action={<Download href={download} />}>It has {size(content.error.sizeBytes)}.</Failed>;
    return <Unread title="It could not be read" error={content.error} onAgain={content.refresh} more={<Download href={download} />} />;
  }
  const { bytes } = content.data;
  const text = view === "text" || view === "markdown" || view === "csv" ? asText(bytes) : null;
  if (view === "image") return <ImageView path={path} bytes={bytes} />;
  if (text !== null && view === "markdown") return <MarkdownView text={text} />;
  if (text !== null && view === "csv") return <CsvView path={path} text={text} />;
  if (text !== null) return <CodeView path={path} text={text} marked={marked} />;
  const rich: Partial<Record<View, ReactNode>> = {
    pdf: <PdfView bytes={bytes} />, docx: <DocxView bytes={bytes} />, sheet: <SheetView bytes={bytes} />, slides: <SlidesView bytes={bytes} />,
  };
  if (rich[view]) return rich[view];
  return <Empty icon="file" action={<Download href={download} />}>{size(bytes.length)} that cannot be shown as text.</Empty>;
}

const Download = ({ href }: { href: string }) => <a className="btn line" href={href} download>Download</a>;
