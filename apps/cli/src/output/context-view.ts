import type { View } from "./format.ts";

/** A saved context as it is listed, without its token. */
export interface ListedContext {
  readonly name: string;
  readonly current: boolean;
  readonly pm_url: string;
  readonly token: "none" | "kept";
}

/** The parts of the contexts file that a list shows. */
interface SavedContexts {
  readonly current: string;
  readonly byName: ReadonlyMap<string, { readonly pmUrl: string; readonly token?: string }>;
}

export function listedContexts({ current, byName }: SavedContexts): readonly ListedContext[] {
  return [...byName].map(([name, { pmUrl, token }]) => ({
    name,
    current: name === current,
    pm_url: pmUrl,
    token: token === undefined ? "none" : "kept",
  }));
}

export function contextView(): View<ListedContext> {
  return {
    kind: "context",
    nameOf: ({ name }) => name,
    columns: [
      { header: "CURRENT", cell: ({ current }) => (current ? "*" : "") },
      { header: "NAME", cell: ({ name }) => name },
      { header: "PACKAGE MANAGER", cell: ({ pm_url }) => pm_url },
      { header: "TOKEN", cell: ({ token }) => (token === "kept" ? "saved" : token) },
    ],
  };
}
