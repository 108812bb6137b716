import { renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { recordText, STATE_FILE, type StackRecord } from "@oaas/stack-folder";

/** Leaves word of this stack in its data folder, readable by its owner alone; answers how to take it back. */
export function leaveWord(dataDir: string, record: StackRecord): () => void {
  const file = path.join(dataDir, STATE_FILE);
  const next = `${file}.${record.pid}`;
  writeFileSync(next, recordText(record), { mode: 0o600 });
  renameSync(next, file);
  return () => rmSync(file, { force: true });
}
