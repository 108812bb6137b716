import { parseYaml } from "@oaas/foundation/yaml";
import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

const FIX = 'write {"entries": {"KEY": {"json": …}}}, with json, text or base64 for each entry';

/** The entries in `--data`, a file or standard input: JSON or YAML, as `oaas object get` prints it. */
export async function readEntries(
  session: Session,
  { data, file }: { readonly data?: string; readonly file?: string },
): Promise<Readonly<Record<string, unknown>>> {
  if ((data === undefined) === (file === undefined)) {
    const message = data === undefined ? "the entries are missing" : "--data and --file are both set";
    throw new UsageError(message, "use --data JSON, --file PATH, or --file - for standard input");
  }
  const { terminal, files } = session.environment;
  const text = data ?? (file === "-" ? await terminal.readStdin() : await files.read(file ?? ""));
  if (text === undefined) throw new UsageError(`${file} does not exist`, "name a file, or - for standard input");
  const document = parse(text);
  const entries = isRecord(document) ? document["entries"] : undefined;
  if (!isRecord(entries)) throw new UsageError("the document has no entries", FIX);
  return entries;
}

function parse(text: string): unknown {
  if (/^\s*\{/.test(text)) {
    try {
      return JSON.parse(text);
    } catch (thrown) {
      throw new UsageError(`the document is not JSON: ${(thrown as Error).message}`, FIX);
    }
  }
  const { documents, exceeded } = parseYaml(text);
  const [document] = documents;
  const [problem] = document?.problems ?? [];
  if (exceeded !== undefined || problem !== undefined)
    throw new UsageError(`the document is not YAML: ${exceeded?.message ?? problem?.message}`, FIX);
  return document?.document.toJS();
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
