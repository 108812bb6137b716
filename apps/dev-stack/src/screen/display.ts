import type { Progress } from "../clusters/progress.ts";
import type { UpView } from "./view.ts";

/** The constant part of the view of a running stack. */
export type StackInfo = Omit<UpView, "state" | "rssBytes" | "logs">;

/** Shows the progress of the start and the state of the running stack. */
export interface Display extends Progress {
  /** The stack is up. `look` reads its state; a live display calls it repeatedly. */
  showUp(info: StackInfo, readState: () => Promise<Pick<UpView, "state" | "rssBytes">>): Promise<void>;
  /** Stops drawing. */
  end(): void;
}
