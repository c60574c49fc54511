import { useRoute } from "~/lib/router";
import { IconSprite } from "~/ui/IconSprite";
import { Mark } from "~/ui/Mark";
import { Toasts } from "~/ui/toasts";

/** The whole page: what the address says, in the shell. */
export function App() {
  const route = useRoute();
  return (
    <>
      <IconSprite />
      <main className="empty-in" data-route={route.at}>
        <div className="hero">
          <Mark />
          <h1>Warren</h1>
        </div>
      </main>
      <Toasts />
    </>
  );
}
