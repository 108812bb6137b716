import type { Progress } from "../clusters/ports.ts";
import type { UpView } from "./view.ts";

/** What is known once all is up, but for what changes. */
export type Fixed = Omit<UpView, "state" | "rssBytes" | "logs">;

/** How the stack shows itself to whoever started it. */
export interface Face extends Progress {
  /** All is up. `look` says how it is; a live face goes on asking. */
  up(fixed: Fixed, look: () => Promise<Pick<UpView, "state" | "rssBytes">>): Promise<void>;
  /** It is over with the start or with the whole: nothing is drawn any more. */
  end(): void;
}
