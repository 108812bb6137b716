import { LoaderCircle, type LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";

type Variant = "primary" | "plain" | "quiet" | "danger";

const BASE =
  "inline-flex items-center justify-center gap-1.5 rounded-md px-2.5 py-1.5 text-sm font-medium whitespace-nowrap transition-colors disabled:opacity-55 disabled:cursor-not-allowed";
const LOOK: Readonly<Record<Variant, string>> = {
  primary: "bg-accent text-accent-ink hover:opacity-90",
  plain: "border border-line-strong bg-surface text-ink hover:bg-sunken",
  quiet: "text-ink-2 hover:bg-sunken hover:text-ink",
  danger: "border border-bad bg-surface text-bad hover:bg-bad-soft",
};

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: Variant;
  readonly icon?: LucideIcon | undefined;
  readonly busy?: boolean;
}

export function Button({
  variant = "plain",
  icon: Icon,
  busy = false,
  children,
  className = "",
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || busy}
      className={`${BASE} ${LOOK[variant]} ${className}`}
    >
      {busy ? <LoaderCircle size={14} className="animate-spin" aria-hidden /> : Icon && <Icon size={14} aria-hidden />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly label: string;
  readonly icon: LucideIcon;
}

export function IconButton({ label, icon: Icon, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`inline-flex size-8 items-center justify-center rounded-md text-ink-2 hover:bg-sunken hover:text-ink ${className}`}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}

interface LinkButtonProps {
  readonly href: string;
  readonly variant?: Variant;
  readonly icon?: LucideIcon;
  readonly children: ReactNode;
}

export function LinkButton({ href, variant = "plain", icon: Icon, children }: LinkButtonProps) {
  return (
    <Link href={href} className={`${BASE} ${LOOK[variant]}`}>
      {Icon && <Icon size={14} aria-hidden />}
      {children}
    </Link>
  );
}
