import { useEffect, useState } from "react";
import { Empty } from "~/ui/Notice";
import { imageType } from "./kinds";

/** A picture. As the source of an `img` nothing in it can run, not even in an SVG. */
export function ImageView({ path, bytes }: { path: string; bytes: Uint8Array<ArrayBuffer> }) {
  const [src, setSrc] = useState<string>();
  const [size, setSize] = useState<string | null>(null);
  const [broken, setBroken] = useState(false);
  const type = imageType(path);
  useEffect(() => {
    const url = URL.createObjectURL(new Blob([bytes], { type: type ?? "application/octet-stream" }));
    setSrc(url);
    setBroken(false);
    return () => URL.revokeObjectURL(url);
  }, [bytes, type]);
  if (broken || !type) return <Empty icon="eye">The file is not a picture that this browser can show.</Empty>;
  return (
    <figure className="image-view">
      {src && <img src={src} alt={path.split("/").at(-1)} onLoad={(event) => setSize(`${event.currentTarget.naturalWidth} × ${event.currentTarget.naturalHeight}`)} onError={() => setBroken(true)} />}
      <figcaption className="muted num">{size ?? "…"}</figcaption>
    </figure>
  );
}
