import { Component, type ReactNode } from "react";
import { m } from "../messages/en.ts";
import { Button } from "./button.tsx";
import { ErrorView } from "./states.tsx";

interface State {
  readonly error: unknown;
  readonly key: unknown;
}

/** Shows an error of the console instead of a blank page. Another page (`resetKey`) starts again. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode; readonly resetKey?: string }, State> {
  override state: State = { error: undefined, key: undefined };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error };
  }

  static getDerivedStateFromProps({ resetKey }: { readonly resetKey?: string }, { key }: State): Partial<State> | null {
    return resetKey === key ? null : { error: undefined, key: resetKey };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div>
        <ErrorView error={error} retry={() => this.setState({ error: undefined })} />
        <p className="text-center">
          <Button onClick={() => location.reload()}>{m.errors.reload}</Button>
        </p>
      </div>
    );
  }
}
