import type { Key } from "./keys.ts";

/** What the user looks at. */
export interface ScreenMode {
  /** The part below the components. */
  readonly panel: "commands" | "logs" | "details" | "help";
  /** Only components that contain this text; empty for all. */
  readonly filter: string;
  /** Whether keys go to the filter. */
  readonly isTyping: boolean;
  /** The id of the selected component. */
  readonly selected: string | undefined;
}

export const FIRST_MODE: ScreenMode = { panel: "commands", filter: "", isTyping: false, selected: undefined };

/** The mode after a key, or "quit". `ids` are the components on the screen, from top to bottom. */
export function pressKey(mode: ScreenMode, key: Key, ids: readonly string[]): ScreenMode | "quit" {
  if (key === "ctrl-c") return "quit";
  if (mode.isTyping) return typeFilter(mode, key);
  switch (key) {
    case "q":
      return "quit";
    case "?":
      return togglePanel(mode, "help");
    case "l":
      return togglePanel(mode, "logs");
    case "/":
      return { ...mode, isTyping: true };
    case "up":
    case "k":
      return { ...mode, selected: neighbour(mode, ids, -1) };
    case "down":
    case "j":
      return { ...mode, selected: neighbour(mode, ids, 1) };
    case "enter":
      return mode.selected === undefined ? mode : togglePanel(mode, "details");
    case "escape":
      return goBack(mode);
    case "backspace":
    default:
      return mode;
  }
}

function togglePanel(mode: ScreenMode, panel: ScreenMode["panel"]): ScreenMode {
  return { ...mode, panel: mode.panel === panel ? "commands" : panel };
}

function typeFilter(mode: ScreenMode, key: Key): ScreenMode {
  if (key === "enter") return { ...mode, isTyping: false };
  if (key === "escape") return { ...mode, isTyping: false, filter: "" };
  if (key === "backspace") return { ...mode, filter: mode.filter.slice(0, -1) };
  return key.length > 2 || key === "up" ? mode : { ...mode, filter: mode.filter + key };
}

/** Closes the panel, then the filter, then the selection. */
function goBack(mode: ScreenMode): ScreenMode {
  if (mode.panel !== "commands") return { ...mode, panel: "commands" };
  return mode.filter === "" ? { ...mode, selected: undefined } : { ...mode, filter: "" };
}

/** The component above or below; the first or last one without a selection. */
function neighbour({ selected }: ScreenMode, ids: readonly string[], step: 1 | -1): string | undefined {
  const at = selected === undefined ? -1 : ids.indexOf(selected);
  if (at < 0) return step === 1 ? ids[0] : ids.at(-1);
  return ids[Math.min(Math.max(at + step, 0), ids.length - 1)];
}
