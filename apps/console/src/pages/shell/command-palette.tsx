import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { call } from "../../api/client.ts";
import { useSession } from "../../api/session.ts";
import { rankMatches } from "../../lib/match.ts";
import { PAGES } from "../../lib/shortcuts.ts";
import { m } from "../../messages/en.ts";

interface Entry {
  readonly label: string;
  readonly kind: string;
  readonly href: string;
}

/** Deployments and packages of the palette: the newest, or those with the typed text in their name. */
const OFFERED = 15;
const SHOWN = 12;
const TYPING_MS = 200;

async function loadEntries(filter: string, signal: AbortSignal): Promise<readonly Entry[]> {
  const newest = { limit: OFFERED, sort: "-updated_at" };
  const named = filter !== "";
  const [deployments, packages, clusters] = await Promise.all([
    call("listDeployments", { query: named ? { limit: OFFERED, filter } : newest, signal }),
    call("listPackageSummaries", { query: named ? { limit: OFFERED, name_pattern: filter } : newest, signal }),
    call("listClusters", { signal }),
  ]);
  const kinds = m.palette.kinds;
  return [
    ...deployments.value.map(({ key }) => ({
      label: key,
      kind: kinds.deployment,
      href: `/deployments/${encodeURIComponent(key)}`,
    })),
    ...packages.value.map(({ name }) => ({
      label: name,
      kind: kinds.package,
      href: `/packages/${encodeURIComponent(name)}`,
    })),
    ...clusters.value.map(({ name }) => ({
      label: name,
      kind: kinds.cluster,
      href: `/clusters/${encodeURIComponent(name)}`,
    })),
  ];
}

/** The value once it has not changed for a while. */
function useSettled(value: string, afterMs: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}

/** Goes to any page or object by a few letters of its name. */
export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  const [selected, setSelected] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const lab = useSession().data?.lab ?? false;
  const typed = text.trim();
  const filter = useSettled(typed, TYPING_MS);
  const { data: objects = [] } = useQuery({
    queryKey: ["palette", filter],
    queryFn: ({ signal }) => loadEntries(filter, signal),
    placeholderData: keepPreviousData,
  });
  useEffect(() => dialog.current?.showModal(), []);
  const pages = PAGES.filter((page) => page.id !== "lab" || lab).map((page) => ({
    label: m.nav[page.id],
    kind: m.palette.kinds.page,
    href: page.path,
  }));
  const fixed = [...pages, { label: m.packages.create, kind: m.palette.kinds.action, href: "/new-package" }];
  const found = rankMatches(typed, [...fixed, ...objects], ({ label }) => label).slice(0, SHOWN);
  const search: readonly Entry[] =
    typed === ""
      ? []
      : [
          {
            label: m.palette.searchDeployments(typed),
            kind: m.palette.kinds.action,
            href: `/deployments?filter=${encodeURIComponent(typed)}`,
          },
        ];
  const entries = [...found, ...search];
  const active = Math.min(selected, entries.length - 1);
  const go = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    navigate(entry.href);
    onClose();
  };
  return (
    <dialog
      ref={dialog}
      aria-label={m.palette.title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      className="mx-auto mt-[12vh] w-[calc(100vw-2rem)] max-w-xl overflow-hidden rounded-xl border border-line bg-raised p-0 text-ink shadow-[var(--shadow-lg)]"
    >
      <input
        role="combobox"
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={entries.length === 0 ? undefined : `${id}-${active}`}
        aria-label={m.palette.hint}
        placeholder={m.palette.hint}
        autoFocus
        className="w-full border-b border-line bg-transparent px-4 py-3 text-lg outline-none placeholder:text-ink-3"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setSelected(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setSelected(Math.min(active + 1, entries.length - 1));
          else if (event.key === "ArrowUp") setSelected(Math.max(active - 1, 0));
          else if (event.key === "Enter") go(entries[active]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={m.palette.title} className="max-h-[50vh] overflow-auto p-1.5">
        {entries.map((entry, index) => (
          <li
            key={entry.href + entry.label}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            onMouseMove={() => setSelected(index)}
            onClick={() => go(entry)}
            className={`flex cursor-pointer items-center justify-between gap-3 rounded-md px-2.5 py-2 ${index === active ? "bg-accent-soft" : ""}`}
          >
            <span className="truncate">{entry.label}</span>
            <span className="shrink-0 text-sm text-ink-2">{entry.kind}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}
