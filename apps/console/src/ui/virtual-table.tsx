import { useQueries, keepPreviousData } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp, ArrowUpDown } from "lucide-react";
import { useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { useLocation } from "wouter";
import { count } from "../lib/format.ts";
import { m } from "../messages/en.ts";
import { ErrorView, Loading } from "./states.tsx";

export interface Page<T> {
  readonly rows: readonly T[];
  readonly total: number;
}

export interface Column<T> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: T) => ReactNode;
  /** The server's name of the order; absent when it cannot sort by this column. */
  readonly sort?: string;
  /** Share of the width, as a track of a CSS grid. */
  readonly width: string;
  /** Hidden on narrow screens. */
  readonly wide?: boolean;
}

interface VirtualTableProps<T> {
  readonly label: string;
  /** First words of the query key; the filters must be part of it. */
  readonly queryKey: readonly unknown[];
  readonly fetchPage: (offset: number, limit: number, signal: AbortSignal) => Promise<Page<T>>;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly hrefOf: (row: T) => string;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly empty: ReactNode;
}

/** More rows than a screen has, so that one request fills it. */
const PAGE_SIZE = 50;
const ROW_HEIGHT = 44;
/** Narrow screens show fewer columns. */
const NARROW = window.matchMedia("(width < 48rem)");

function subscribeToWidth(listener: () => void): () => void {
  NARROW.addEventListener("change", listener);
  return () => NARROW.removeEventListener("change", listener);
}

/**
 * A list of any length: only visible rows are in the document, and only their pages are fetched. The page scrolls, not a box
 * inside of it, so that the browser restores the position.
 */
export function VirtualTable<T>({
  label,
  queryKey,
  fetchPage,
  columns,
  keyOf,
  hrefOf,
  sort,
  onSort,
  empty,
}: VirtualTableProps<T>) {
  const [, navigate] = useLocation();
  const isNarrow = useSyncExternalStore(subscribeToWidth, () => NARROW.matches);
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [pages, setPages] = useState<readonly number[]>([0]);
  const results = useQueries({
    queries: pages.map((page) => ({
      queryKey: [...queryKey, page],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => fetchPage(page * PAGE_SIZE, PAGE_SIZE, signal),
      placeholderData: keepPreviousData,
    })),
  });
  const first = results[0];
  const total = first?.data?.total ?? 0;
  const rows = useMemo(
    () => new Map(pages.map((page, index) => [page, results[index]?.data?.rows] as const)),
    [pages, results],
  );
  const virtualizer = useWindowVirtualizer({
    count: total,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollMargin: top,
  });
  const items = virtualizer.getVirtualItems();
  // The first page has the total, without which there are no rows to show.
  const wanted = [...new Set([0, ...items.map(({ index }) => Math.trunc(index / PAGE_SIZE))])];
  if (wanted.join() !== pages.join()) setPages(wanted);
  useLayoutEffect(() => setTop((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY), [total]);

  const failed = results.find(({ isError, data }) => isError && data === undefined);
  if (failed !== undefined && total === 0)
    return <ErrorView error={failed.error} retry={() => void failed.refetch()} />;
  if (first?.data === undefined && total === 0) return <Loading rows={8} />;
  if (total === 0) return empty;

  const grid = { gridTemplateColumns: columns.map(({ width }) => width).join(" ") };
  const narrow = {
    gridTemplateColumns: columns
      .filter(({ wide }) => !wide)
      .map(({ width }) => width)
      .join(" "),
  };
  const tracks = isNarrow ? narrow : grid;
  const visible = isNarrow ? columns.filter(({ wide }) => !wide) : columns;
  return (
    <>
      <div role="table" aria-label={label} aria-rowcount={total + 1}>
        <div role="rowgroup">
          <div
            role="row"
            aria-rowindex={1}
            className="grid gap-3 border-b border-line px-4 text-sm text-ink-3"
            style={tracks}
          >
            {visible.map((column) => (
              <ColumnTitle key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </div>
        </div>
        <div ref={body} role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows.get(Math.trunc(index / PAGE_SIZE))?.[index % PAGE_SIZE];
            const place = { ...tracks, transform: `translateY(${start - top}px)`, height: ROW_HEIGHT };
            if (row === undefined)
              return (
                <div
                  key={index}
                  role="row"
                  aria-rowindex={index + 2}
                  className="absolute inset-x-0 grid items-center border-b border-line px-4"
                  style={place}
                >
                  <div role="cell" className="skeleton h-3.5 w-40" />
                </div>
              );
            return (
              <div
                key={keyOf(row)}
                role="row"
                aria-rowindex={index + 2}
                className="absolute inset-x-0 grid cursor-pointer items-center gap-3 border-b border-line px-4 hover:bg-sunken"
                style={place}
                onClick={(event) => {
                  // Links inside the row have their own target, and a modified click opens a tab.
                  if (event.target instanceof Element && event.target.closest("a,button") === null)
                    navigate(hrefOf(row));
                }}
              >
                {visible.map(({ id, cell }) => (
                  <div key={id} role="cell" className="min-w-0 truncate">
                    {cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      <p className="border-t border-line px-4 py-2 text-sm text-ink-3" role="status">
        {m.common.total(count(total))}
      </p>
    </>
  );
}

function ColumnTitle<T>({
  column: { title, sort: name },
  sort,
  onSort,
}: {
  readonly column: Column<T>;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}) {
  if (name === undefined)
    return (
      <div role="columnheader" className="truncate py-2 font-medium">
        {title}
      </div>
    );
  const direction = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
  const Icon = { ascending: ArrowUp, descending: ArrowDown, none: ArrowUpDown }[direction];
  return (
    <div role="columnheader" aria-sort={direction} className="min-w-0">
      <button
        type="button"
        className="flex max-w-full items-center gap-1 py-2 font-medium hover:text-ink"
        onClick={() => onSort(direction === "ascending" ? `-${name}` : name)}
      >
        <span className="truncate">{title}</span>
        <Icon size={12} className={`shrink-0 ${direction === "none" ? "opacity-40" : ""}`} aria-hidden />
      </button>
    </div>
  );
}
