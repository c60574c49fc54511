import { received, useResource } from "@warren/react";
import { useEffect, useState } from "react";
import { imageType } from "../kinds";
import { resolve } from "../zip";

export type Near = (path: string) => Promise<Response>;

type Props = { src: string; alt: string; title?: string; path: string; near?: Near };

/** An image of a document: a file beside it, or data inside it. Images of other hosts are not loaded: they would tell who reads. */
export function Picture({ src, alt, title, path, near }: Props) {
  if (/^data:image\/(?:png|jpeg|gif|webp|svg\+xml)[;,]/i.test(src)) return <img src={src} alt={alt} title={title} />;
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(src)) return <a href={/^https?:/i.test(src) ? src : undefined} target="_blank" rel="noopener noreferrer nofollow" className="md-image-link">Image: {alt || src}</a>;
  const at = resolve(path.split("/").slice(0, -1).join("/"), decoded(src.replace(/[?#].*$/, "")));
  const type = imageType(at);
  if (!near || !type || at === "") return <span className="muted">Image: {alt || src}</span>;
  return <Loaded path={path.startsWith("/") || src.startsWith("/") ? `/${at}` : at} type={type} alt={alt} title={title} near={near} />;
}

function Loaded({ path, type, alt, title, near }: { path: string; type: string; alt: string; title?: string; near: Near }) {
  const read = useResource(`image ${path}`, async () => new Blob([await received((await near(path)).arrayBuffer())], { type }));
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    // An address of bytes must be given back.
    if (!read.data) return;
    const made = URL.createObjectURL(read.data);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [read.data]);
  if (read.state === "failed") return <span className="muted">Image not found: {alt || path}</span>;
  return url ? <img src={url} alt={alt} title={title} /> : <span className="muted">{alt}</span>;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
