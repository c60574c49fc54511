import { Component, type ReactNode } from "react";
import { Button } from "./Button";
import { Failed } from "./Notice";

type Props = { children: ReactNode; /** What stands around the notice. */ frame?: (notice: ReactNode) => ReactNode };

/** A view that cannot be drawn says so in its place; the rest of the page goes on. Give it a `key` that changes with the view. */
export class Guard extends Component<Props, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    const notice = (
      <Failed title="This view could not be displayed" action={<Button look="line" onClick={() => location.reload()}>Reload the page</Button>}>
        {this.state.error instanceof Error ? this.state.error.message : null} What the agent does goes on, and nothing of it is lost.
      </Failed>
    );
    return this.props.frame?.(notice) ?? notice;
  }
}
