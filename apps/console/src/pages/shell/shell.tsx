import {
  Activity,
  Boxes,
  ChartNetwork,
  Command as CommandIcon,
  Cpu,
  FlaskConical,
  LayoutDashboard,
  LogOut,
  Menu as MenuIcon,
  Moon,
  Package,
  PencilRuler,
  RefreshCw,
  Server,
  Sun,
  SunMoon,
  UserRound,
  WifiOff,
  X,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useConnection, useFeed } from "../../api/feed-context.tsx";
import type { Session } from "../../api/contract.ts";
import { useSession, useSignIn } from "../../api/session.ts";
import { absoluteTime } from "../../lib/time.ts";
import { PAGES, ShortcutReader, type PageId } from "../../lib/shortcuts.ts";
import { m } from "../../messages/en.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { useToasts } from "../../ui/toast.tsx";
import { CommandPalette } from "./command-palette.tsx";
import { ShortcutHelp } from "./shortcut-help.tsx";
import { useTheme } from "./theme.ts";

const ICONS: Readonly<Record<PageId, LucideIcon>> = {
  overview: LayoutDashboard,
  deployments: Boxes,
  plan: PencilRuler,
  packages: Package,
  runtimes: Cpu,
  clusters: Server,
  topology: ChartNetwork,
  activity: Activity,
  lab: FlaskConical,
};

type Overlay = "palette" | "help" | undefined;

/** Navigation, shortcuts, banners; the page is inside. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const [location, navigate] = useLocation();
  const [overlay, setOverlay] = useState<Overlay>();
  const [open, setOpen] = useState(false);
  const feed = useFeed();
  const session = useSession().data;
  useEffect(() => {
    feed.start();
    return () => feed.close();
  }, [feed]);
  useShortcuts(setOverlay, navigate);
  useEffect(() => setOpen(false), [location]);
  if (session === undefined) return null;
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[14rem_minmax(0,1fr)] print:block">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded focus:bg-raised focus:px-3 focus:py-2"
      >
        {m.nav.skip}
      </a>
      <div className="no-print sticky top-0 z-30 flex items-center gap-2 border-b border-line bg-surface px-3 py-2 lg:hidden">
        <IconButton
          label={open ? m.nav.closeMenu : m.nav.openMenu}
          aria-expanded={open}
          icon={open ? X : MenuIcon}
          onClick={() => setOpen(!open)}
        />
        <Brand />
        <IconButton
          label={m.palette.title}
          icon={CommandIcon}
          className="ml-auto"
          onClick={() => setOverlay("palette")}
        />
      </div>
      <aside
        className={`no-print border-r border-line bg-surface lg:sticky lg:top-0 lg:flex lg:h-dvh lg:flex-col ${open ? "fixed inset-x-0 top-[3.3rem] bottom-0 z-30 flex flex-col overflow-auto" : "hidden"}`}
      >
        <div className="hidden px-4 pt-4 pb-3 lg:block">
          <Brand />
        </div>
        <div className="px-3 pt-3 lg:pt-0">
          <button
            type="button"
            onClick={() => setOverlay("palette")}
            className="flex w-full items-center gap-2 rounded-md border border-line bg-sunken px-2.5 py-1.5 text-left text-sm text-ink-2 hover:border-line-strong"
          >
            <CommandIcon size={14} aria-hidden />
            {m.palette.hint}
            <kbd className="ml-auto text-xs">Ctrl K</kbd>
          </button>
        </div>
        <nav aria-label={m.nav.main} className="flex-1 space-y-0.5 px-3 py-3">
          {PAGES.filter(({ id }) => id !== "lab" || session.lab).map(({ id, path }) => (
            <NavLink
              key={id}
              id={id}
              path={path}
              active={
                path === "/"
                  ? location === "/"
                  : location.startsWith(path) || (id === "packages" && location === "/new-package")
              }
            />
          ))}
        </nav>
        <Account session={session} onHelp={() => setOverlay("help")} />
      </aside>
      <div className="min-w-0">
        <ConnectionBanner />
        <main id="main" tabIndex={-1} className="mx-auto max-w-[88rem] px-4 py-5 outline-none sm:px-6 lg:px-8">
          {children}
        </main>
      </div>
      {overlay === "palette" && <CommandPalette onClose={() => setOverlay(undefined)} />}
      {overlay === "help" && <ShortcutHelp onClose={() => setOverlay(undefined)} />}
    </div>
  );
}

function Brand() {
  return (
    <Link href="/" className="flex items-center gap-2 font-semibold">
      <img src="/favicon.svg" alt="" width={22} height={22} />
      {m.app.name}
    </Link>
  );
}

function NavLink({ id, path, active }: { readonly id: PageId; readonly path: string; readonly active: boolean }) {
  const Icon = ICONS[id];
  return (
    <Link
      href={path}
      aria-current={active ? "page" : undefined}
      className={`flex items-center gap-2.5 rounded-md px-2.5 py-1.5 font-medium ${active ? "bg-accent-soft text-accent" : "text-ink-2 hover:bg-sunken hover:text-ink"}`}
    >
      <Icon size={16} aria-hidden />
      {m.nav[id]}
    </Link>
  );
}

const THEME_ICONS = { system: SunMoon, light: Sun, dark: Moon } as const;

function Account({ session, onHelp }: { readonly session: Session; readonly onHelp: () => void }) {
  const [theme, setTheme] = useTheme();
  const { signOut } = useSignIn();
  const { failed } = useToasts();
  const next = { system: "light", light: "dark", dark: "system" } as const;
  return (
    <div className="flex items-center gap-1 border-t border-line px-3 py-2.5">
      {session.authentication === "required" ? (
        <Menu
          trigger={
            <button
              type="button"
              className="flex min-w-0 flex-1 items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm hover:bg-sunken"
            >
              <UserRound size={16} className="shrink-0" aria-hidden />
              <span className="min-w-0">
                <span className="block truncate font-medium">{session.caller?.name}</span>
                <span className="block text-xs text-ink-2">{session.caller?.role}</span>
              </span>
            </button>
          }
          items={[{ label: m.session.signOut, icon: LogOut, onSelect: () => void signOut().catch(failed) }]}
        />
      ) : (
        <p className="min-w-0 flex-1 px-2 text-xs text-ink-3">{m.session.off}</p>
      )}
      <IconButton label={m.theme.label(theme)} icon={THEME_ICONS[theme]} onClick={() => setTheme(next[theme])} />
      <button
        type="button"
        aria-label={m.help.title}
        title={m.help.title}
        onClick={onHelp}
        className="size-8 rounded-md font-semibold text-ink-2 hover:bg-sunken hover:text-ink"
      >
        ?
      </button>
    </div>
  );
}

/** Says that what the page shows may be old; disappears when the events arrive again. */
function ConnectionBanner() {
  const connection = useConnection();
  const feed = useFeed();
  if (connection !== "lost") return null;
  const since = feed.lostSince();
  return (
    <div
      role="alert"
      className="no-print sticky top-0 z-20 flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn bg-warn-soft px-4 py-2 text-sm sm:px-8"
    >
      <WifiOff size={16} className="text-warn" aria-hidden />
      <p className="min-w-0 flex-1">
        <strong className="font-semibold">{m.connection.lost}</strong>{" "}
        {since !== undefined && m.connection.since(absoluteTime(since))}
      </p>
      <Button icon={RefreshCw} onClick={feed.reconnect}>
        {m.connection.retry}
      </Button>
    </div>
  );
}

function useShortcuts(show: (overlay: Overlay) => void, navigate: (path: string) => void): void {
  const reader = useRef(new ShortcutReader());
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.composedPath()[0];
      const typing =
        target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
      const { key, ctrlKey, metaKey, altKey, timeStamp } = event;
      const shortcut = reader.current.read({ key, ctrlKey, metaKey, altKey, typing, atMs: timeStamp });
      if (shortcut === undefined) return;
      event.preventDefault();
      if (shortcut.kind === "page") navigate(shortcut.path);
      else if (shortcut.kind === "filter") document.querySelector<HTMLElement>("[data-filter]")?.focus();
      else show(shortcut.kind);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [show, navigate]);
}
