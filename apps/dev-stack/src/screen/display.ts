import type { Progress } from "../clusters/progress.ts";
import type { DeploymentExplanation } from "../package-manager/ports.ts";
import type { UpView } from "./view.ts";

/** The constant part of the view of a running stack. */
export type StackInfo = Omit<UpView, "state" | "rssBytes" | "logs" | "mode" | "explanation">;

/** Reads from the running stack; neither throws. */
export interface StackReader {
  state(): Promise<Pick<UpView, "state" | "rssBytes">>;
  /** Why a deployment is in its state. */
  explanation(key: string): Promise<DeploymentExplanation>;
}

/** Shows the progress of the start and the state of the running stack. */
export interface Display extends Progress {
  /** The stack is up; a live display reads its state repeatedly. */
  showUp(info: StackInfo, read: StackReader): Promise<void>;
  /** Stops drawing. */
  end(): void;
}
