import { PAGES } from "../../lib/shortcuts.ts";
import { m } from "../../messages/en.ts";
import { Dialog } from "../../ui/dialog.tsx";

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const rows: readonly (readonly [string, string])[] = [
    ["Ctrl K", m.help.palette],
    ["/", m.help.filter],
    ["?", m.help.title],
    ["Esc", m.help.escape],
    ...PAGES.map(({ id, key }) => [`g ${key}`, m.nav[id]] as const),
  ];
  return (
    <Dialog title={m.help.title} onClose={onClose}>
      <dl className="grid grid-cols-[6rem_1fr] gap-y-2">
        {rows.map(([keys, text]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="rounded border border-line-strong bg-sunken px-1.5 py-0.5 text-xs">{keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
