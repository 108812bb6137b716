import { Check, Copy, Terminal } from "lucide-react";
import { useState } from "react";
import type { Command } from "../lib/commands.ts";
import { m } from "../messages/en.ts";
import { Button, IconButton } from "./button.tsx";
import { Menu } from "./menu.tsx";
import { useToasts } from "./toast.tsx";

/** The same view as a command of another tool. */
export function CopyAs({ commands }: { readonly commands: readonly Command[] }) {
  const { done, failed } = useToasts();
  const copy = async ({ text }: Command): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      done(m.common.copied(text));
    } catch {
      failed(new Error(m.common.copyFailed(text)));
    }
  };
  return (
    <Menu
      trigger={<Button icon={Terminal}>{m.common.copyAs}</Button>}
      items={commands.map((command) => ({ label: command.text, icon: Copy, onSelect: () => void copy(command) }))}
    />
  );
}

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return <IconButton label={label} icon={copied ? Check : Copy} className="size-6!" onClick={() => void copy()} />;
}
