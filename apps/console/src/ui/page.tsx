import { ChevronRight } from "lucide-react";
import { useEffect, type ReactNode } from "react";
import { Link } from "wouter";
import type { Command } from "../lib/commands.ts";
import { m } from "../messages/en.ts";
import { CopyAs } from "./copy.tsx";

interface PageHeaderProps {
  readonly title: string;
  /** Pages above this one. */
  readonly crumbs?: readonly { readonly label: string; readonly href: string }[];
  readonly status?: ReactNode;
  readonly meta?: ReactNode;
  readonly actions?: ReactNode;
  readonly commands?: readonly Command[];
}

export function PageHeader({ title, crumbs = [], status, meta, actions, commands = [] }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · ${m.app.name}`;
  }, [title]);
  return (
    <header className="mb-5">
      {crumbs.length > 0 && (
        <nav aria-label={m.common.breadcrumbs} className="mb-1 flex flex-wrap items-center gap-1 text-sm text-ink-2">
          {crumbs.map(({ label, href }) => (
            <span key={href} className="flex items-center gap-1">
              <Link href={href} className="hover:text-ink hover:underline">
                {label}
              </Link>
              <ChevronRight size={12} aria-hidden />
            </span>
          ))}
          <span aria-current="page" className="truncate text-ink-3">
            {title}
          </span>
        </nav>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 text-xl font-semibold tracking-tight break-words">{title}</h1>
        {status}
        <div className="no-print flex flex-wrap items-center gap-2 sm:ml-auto">
          {actions}
          {commands.length > 0 && <CopyAs commands={commands} />}
        </div>
      </div>
      {meta !== undefined && <div className="mt-1 text-ink-2">{meta}</div>}
    </header>
  );
}

interface PanelProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly flush?: boolean;
  readonly className?: string;
}

/** A titled box. `flush` leaves the padding to the content, as tables need. */
export function Panel({ title, actions, children, flush = false, className = "" }: PanelProps) {
  return (
    <section className={`min-w-0 rounded-xl border border-line bg-surface shadow-[var(--shadow)] ${className}`}>
      {title !== undefined && (
        <div className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-1.5">
          <h2 className="font-semibold">{title}</h2>
          {actions}
        </div>
      )}
      <div className={flush ? "" : "p-4"}>{children}</div>
    </section>
  );
}

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly count?: number | undefined;
}

/** Tabs are links, so that each has an address and the back button works. */
export function Tabs({
  tabs,
  active,
  hrefOf,
}: {
  readonly tabs: readonly Tab[];
  readonly active: string;
  readonly hrefOf: (id: string) => string;
}) {
  return (
    <nav
      aria-label={m.common.sections}
      className="no-print mb-4 flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line"
    >
      {tabs.map(({ id, label, count }) => (
        <Link
          key={id}
          href={hrefOf(id)}
          aria-current={id === active ? "page" : undefined}
          className={`-mb-px border-b-2 px-3 py-2 text-sm font-medium whitespace-nowrap ${id === active ? "border-accent text-ink" : "border-transparent text-ink-2 hover:text-ink"}`}
        >
          {label}
          {count !== undefined && (
            <span className="num ml-1.5 rounded-full bg-sunken px-1.5 py-0.5 text-xs text-ink-2">{count}</span>
          )}
        </Link>
      ))}
    </nav>
  );
}

/** Names and values. */
export function DataList({
  items,
  columns = 1,
}: {
  readonly items: readonly (readonly [string, ReactNode])[];
  readonly columns?: 1 | 2 | 3;
}) {
  const grid = { 1: "", 2: "sm:grid-cols-2", 3: "sm:grid-cols-2 xl:grid-cols-3" }[columns];
  return (
    <dl className={`grid gap-x-8 gap-y-3 ${grid}`}>
      {items.map(([name, value]) => (
        <div key={name} className="min-w-0">
          <dt className="text-sm text-ink-3">{name}</dt>
          <dd className="mt-0.5 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface TableColumn<T> {
  readonly title: string;
  readonly cell: (row: T) => ReactNode;
  readonly numeric?: boolean;
  /** Hidden on narrow screens. */
  readonly wide?: boolean;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly TableColumn<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}

/** A short table. Long lists use `VirtualTable`. */
export function Table<T>({ label, columns, rows, keyOf }: TableProps<T>) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={label}>
      <table className="w-full border-collapse text-left">
        <thead>
          <tr className="text-sm text-ink-3">
            {columns.map(({ title, numeric, wide }) => (
              <th
                key={title}
                scope="col"
                className={`border-b border-line px-4 py-2 font-medium whitespace-nowrap ${numeric ? "text-right" : ""} ${wide ? "hidden md:table-cell" : ""}`}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-b border-line last:border-0 hover:bg-sunken">
              {columns.map(({ title, cell, numeric, wide }) => (
                <td
                  key={title}
                  className={`px-4 py-2 align-top ${numeric ? "num text-right whitespace-nowrap" : ""} ${wide ? "hidden md:table-cell" : ""}`}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
