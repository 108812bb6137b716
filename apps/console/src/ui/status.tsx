import {
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleMinus,
  CircleX,
  TriangleAlert,
  type LucideIcon,
} from "lucide-react";
import { toneOf, type Tone } from "../lib/tone.ts";

const ICONS: Readonly<Record<Tone, LucideIcon>> = {
  ok: CircleCheck,
  progress: CircleDashed,
  warn: TriangleAlert,
  bad: CircleX,
  idle: CircleMinus,
};
const TEXT: Readonly<Record<Tone, string>> = {
  ok: "text-ok",
  progress: "text-info",
  warn: "text-warn",
  bad: "text-bad",
  idle: "text-idle",
};
const SOFT: Readonly<Record<Tone, string>> = {
  ok: "bg-ok-soft",
  progress: "bg-info-soft",
  warn: "bg-warn-soft",
  bad: "bg-bad-soft",
  idle: "bg-idle-soft",
};

interface StatusProps {
  readonly state: string;
  readonly label?: string | undefined;
  readonly tone?: Tone | undefined;
  /** As a filled label, for headers. */
  readonly soft?: boolean;
}

/** A state as icon and text. */
export function Status({ state, label, tone = toneOf(state), soft = false }: StatusProps) {
  const Icon = tone === "idle" && /^unknown$/i.test(state) ? CircleHelp : ICONS[tone];
  return (
    <span
      className={`inline-flex max-w-full items-center gap-1.5 align-middle font-medium ${TEXT[tone]} ${soft ? `rounded-full px-2 py-0.5 text-sm ${SOFT[tone]}` : ""}`}
    >
      <Icon
        size={14}
        className={`shrink-0 ${tone === "progress" ? "animate-[spin_4s_linear_infinite]" : ""}`}
        aria-hidden
      />
      <span className="truncate">{label ?? state}</span>
    </span>
  );
}

/** A boxed message: what happens, and what to do. */
export function Notice({
  tone,
  title,
  children,
}: {
  readonly tone: Tone;
  readonly title: string;
  readonly children?: React.ReactNode;
}) {
  const Icon = ICONS[tone];
  return (
    <div className={`flex gap-2.5 rounded-lg px-3.5 py-2.5 ${SOFT[tone]}`}>
      <Icon size={16} className={`mt-0.5 shrink-0 ${TEXT[tone]}`} aria-hidden />
      <div className="min-w-0 flex-1">
        <p className={`font-medium ${TEXT[tone]}`}>{title}</p>
        {children !== undefined && <div className="mt-0.5 text-ink-2">{children}</div>}
      </div>
    </div>
  );
}

export function Tag({ children }: { readonly children: React.ReactNode }) {
  return <span className="inline-flex rounded bg-sunken px-1.5 py-0.5 font-mono text-xs text-ink-2">{children}</span>;
}
