// Parts of the page that are loaded when they are first shown, and loaded again when the network failed them.
import { ConnectionError, useResource } from "@warren/react";
import type { ComponentType, ReactNode } from "react";
import { Button } from "./Button";
import { Skeleton, Unread } from "./Notice";

/**
 * `React.lazy` keeps a failure for as long as the page is open, and throws it through everything around. `frame` is what
 * stands around the notice that it failed, in the place of the part's own.
 */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>, meanwhile: ReactNode = <Skeleton />, frame: (notice: ReactNode) => ReactNode = (notice) => notice): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  const read = async () => {
    try {
      return (loaded ??= await load());
    } catch (error) {
      throw new ConnectionError(error);
    }
  };
  return function Part(props: P) {
    const part = useResource("part", read);
    // Loaded before: at once, without a frame of nothing.
    const Loaded = loaded ?? part.data;
    if (Loaded) return <Loaded {...props} />;
    if (part.state === "failed") {
      return frame(
        <Unread title="This part of the page could not be loaded" error={part.error} onAgain={part.refresh} more={<Button onClick={() => location.reload()}>Reload the page</Button>}>
          If the server was updated, reload the page.
        </Unread>,
      );
    }
    return meanwhile;
  };
}
