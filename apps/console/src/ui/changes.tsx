import { Minus, Pencil, Plus } from "lucide-react";
import { inline } from "../lib/format.ts";
import { m } from "../messages/en.ts";

export interface FieldChange {
  readonly path: string;
  readonly change: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly effect?: string | undefined;
}

const ICONS = { added: Plus, removed: Minus, changed: Pencil } as const;
const COLOURS = { added: "text-ok", removed: "text-bad", changed: "text-info" } as const;

/** Changed fields with both values and what the change does. */
export function Changes({ changes }: { readonly changes: readonly FieldChange[] }) {
  const unique = [...new Map(changes.map((change) => [change.path, change])).values()];
  if (unique.length === 0) return <p className="text-ink-2">{m.common.noChanges}</p>;
  return (
    <ul className="space-y-2">
      {unique.map(({ path, change, before, after, effect }) => {
        const kind = change === "added" || change === "removed" ? change : "changed";
        const Icon = ICONS[kind];
        return (
          <li key={path} className="flex gap-2">
            <Icon size={14} className={`mt-1 shrink-0 ${COLOURS[kind]}`} aria-label={m.changeKinds[kind]} />
            <div className="min-w-0 text-sm">
              <code className="font-medium break-all">{path.replace(/^\$\.?/, "")}</code>
              <p className="break-all">
                {before !== undefined && <del className="text-ink-2 decoration-bad">{inline(before)}</del>}
                {before !== undefined && after !== undefined && " → "}
                {after !== undefined && <ins className="no-underline">{inline(after)}</ins>}
              </p>
              {effect !== undefined && <p className="text-warn">{effect}</p>}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
