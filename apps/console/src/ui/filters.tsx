import { Search, X } from "lucide-react";
import { useEffect, useState } from "react";
import { m } from "../messages/en.ts";
import { Button, IconButton } from "./button.tsx";

const TYPING_MS = 250;

/** A text filter. `/` focuses the first one of a page. */
export function TextFilter({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const [given, setGiven] = useState(value);
  if (given !== value) {
    setGiven(value);
    setText(value);
  }
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onChange(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <div className="relative w-full sm:w-64">
      <Search size={14} className="pointer-events-none absolute top-2.5 left-2.5 text-ink-3" aria-hidden />
      <input
        type="search"
        data-filter
        aria-label={label}
        placeholder={label}
        className="field pl-8 [&::-webkit-search-cancel-button]:hidden"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {text !== "" && (
        <IconButton
          label={m.common.clear}
          icon={X}
          className="absolute top-1 right-1 size-6!"
          onClick={() => {
            setText("");
            onChange("");
          }}
        />
      )}
    </div>
  );
}

interface SelectFilterProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (string | readonly [string, string])[];
  readonly any?: string;
  readonly onChange: (value: string) => void;
}

export function SelectFilter({ label, value, options, any = m.common.any(label), onChange }: SelectFilterProps) {
  return (
    <select
      aria-label={label}
      className="field w-auto max-w-full"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{any}</option>
      {options.map((option) => {
        const [id, text] = typeof option === "string" ? [option, option] : option;
        return (
          <option key={id} value={id}>
            {text}
          </option>
        );
      })}
    </select>
  );
}

interface LinkedFilterProps<N extends string> {
  readonly names: readonly N[];
  readonly values: Readonly<Record<N, string>>;
  readonly onRemove: (name: N) => void;
}

/** Filters that links to this page set; each is removed by its button. */
export function LinkedFilters<N extends "cluster" | "package_name" | "target_cluster">({
  names,
  values,
  onRemove,
}: LinkedFilterProps<N>) {
  return names
    .filter((name) => values[name] !== "")
    .map((name) => (
      <Button key={name} variant="quiet" onClick={() => onRemove(name)}>
        {m.common.removeFilter(m.terms[name], values[name])}
      </Button>
    ));
}
