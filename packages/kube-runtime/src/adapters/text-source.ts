import type { Clock } from "@oaas/foundation";
import { fileSource, type TextSource } from "@oaas/foundation/files";
import type { FileOrData } from "../client/access.ts";

/** Inline data (base64, as in a kubeconfig) never changes; a file may. */
export function textSource(source: FileOrData, clock: Clock): TextSource {
  if (source.file !== undefined) return fileSource(source.file, clock);
  const text = Buffer.from(source.data, "base64").toString("utf8");
  return { read: () => text, forget: () => undefined };
}
