/** Pages of the console in the order of the navigation, with the second key of `g …`. */
export const PAGES = [
  { id: "overview", path: "/", key: "o" },
  { id: "deployments", path: "/deployments", key: "d" },
  { id: "plan", path: "/plan", key: "n" },
  { id: "packages", path: "/packages", key: "p" },
  { id: "runtimes", path: "/class-runtimes", key: "r" },
  { id: "clusters", path: "/clusters", key: "c" },
  { id: "topology", path: "/topology", key: "t" },
  { id: "activity", path: "/activity", key: "a" },
  { id: "lab", path: "/lab", key: "l" },
] as const;
export type PageId = (typeof PAGES)[number]["id"];

interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** Whether the focus is in a field. */
  readonly typing: boolean;
  readonly atMs: number;
}

type Shortcut = { readonly kind: "palette" | "help" | "filter" } | { readonly kind: "page"; readonly path: string };

/** How long after `g` the second key counts. */
const CHORD_MS = 1200;

/** Reads key presses as shortcuts; `g` waits for a second key. */
export class ShortcutReader {
  #goAtMs = -Infinity;

  read({ key, ctrlKey, metaKey, altKey, typing, atMs }: KeyPress): Shortcut | undefined {
    if ((ctrlKey || metaKey) && key.toLowerCase() === "k") return { kind: "palette" };
    if (typing || ctrlKey || metaKey || altKey) return undefined;
    const inChord = atMs - this.#goAtMs <= CHORD_MS;
    this.#goAtMs = -Infinity;
    if (inChord) {
      const page = PAGES.find((each) => each.key === key);
      return page && { kind: "page", path: page.path };
    }
    if (key === "g") this.#goAtMs = atMs;
    if (key === "?") return { kind: "help" };
    return key === "/" ? { kind: "filter" } : undefined;
  }
}
