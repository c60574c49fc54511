import { useEffect, useState, type CSSProperties } from "react";
import { imageType } from "../kinds";
import type { Deck } from "./deck";
import type { Crop } from "./shapes";

const WHOLE: Crop = [0, 0, 0, 0];

/** A picture of the file, as an image and nothing else: a drawing with a script in it shows, and runs nothing. */
export function SlidePicture({ deck, path, alt, crop = WHOLE, flipH, flipV }: { deck: Deck; path: string; alt: string; crop?: Crop; flipH?: boolean; flipV?: boolean }) {
  const [src, setSrc] = useState<string>();
  useEffect(() => {
    let url: string | undefined;
    let isCurrent = true;
    const type = imageType(path);
    const show = (bytes: Uint8Array<ArrayBuffer> | null) => {
      if (!isCurrent || !bytes || !type) return;
      url = URL.createObjectURL(new Blob([bytes], { type }));
      setSrc(url);
    };
    // A picture that cannot be read leaves its place empty; the rest of the slide can be.
    if (type) deck.picture(path).then(show, () => {});
    return () => {
      isCurrent = false;
      if (url) URL.revokeObjectURL(url);
    };
  }, [deck, path]);
  if (!src) return null;
  const [top, right, bottom, left] = crop;
  const [w, h] = [Math.max(0.01, 1 - left - right), Math.max(0.01, 1 - top - bottom)];
  // What is cut off lies outside of the frame, which clips it.
  const style: CSSProperties = { position: "absolute", maxWidth: "none", maxHeight: "none", width: `${100 / w}%`, height: `${100 / h}%`, left: `${(-left / w) * 100}%`, top: `${(-top / h) * 100}%` };
  const image = <img src={src} alt={alt} style={crop === WHOLE ? undefined : style} />;
  return flipH || flipV ? <span className="flipped" style={{ transform: `scale(${flipH ? -1 : 1}, ${flipV ? -1 : 1})` }}>{image}</span> : image;
}
