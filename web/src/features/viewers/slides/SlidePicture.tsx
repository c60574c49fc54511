import { useEffect, useState } from "react";
import { imageType } from "../kinds";
import type { Deck } from "./deck";

/** A picture of the file, as an image and nothing else: a drawing with a script in it shows, and runs nothing. */
export function SlidePicture({ deck, path, alt }: { deck: Deck; path: string; alt: string }) {
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
  return src ? <img src={src} alt={alt} /> : null;
}
