import { useQueryClient } from "@tanstack/react-query";
import { CircleCheck, Save } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { useLocation } from "wouter";
import { call } from "../../api/client.ts";
import type { Package } from "../../api/contract.ts";
import { ApiError } from "../../api/errors.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { Editor, loadYaml } from "../../ui/editor.tsx";
import { Panel } from "../../ui/page.tsx";
import { Loading, Violations } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { useToasts } from "../../ui/toast.tsx";

const text = m.packages;
/** The server checks when typing pauses. */
const CHECK_MS = 600;

interface PackageEditorProps {
  /** Undefined for a new package. */
  readonly name?: string;
  readonly pkg: Package | object;
  readonly etag?: string | undefined;
}

interface Conflict {
  readonly theirs: string;
  readonly etag: string | undefined;
}

/** Edits a package as YAML; the server's dry run marks violations at their lines. */
export function PackageEditor({ name, pkg, etag }: PackageEditorProps) {
  const [base, setBase] = useState<{ readonly text: string; readonly etag: string | undefined }>();
  const [draft, setDraft] = useState("");
  const [conflict, setConflict] = useState<Conflict>();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const [reason, setReason] = useState("");
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const { done } = useToasts();
  const reasonId = useId();
  useEffect(() => {
    // A version that arrives while someone types does not replace the draft: saving shows the conflict.
    if (base !== undefined) return;
    void loadYaml().then(({ toYaml }) => {
      const initial = toYaml(editable(pkg));
      setBase({ text: initial, etag });
      setDraft(initial);
    });
  }, [base, pkg, etag]);
  const changed = base !== undefined && (draft !== base.text || name === undefined);
  const check = useDryRun(name, draft, changed);

  const save = async (ifMatch: string | undefined): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const query = reason === "" ? {} : { reason };
      const saved = await (name === undefined
        ? call("createPackage", { query, body: { yaml: draft } })
        : call("updatePackage", { path: { name }, query, body: { yaml: draft }, ifMatch }));
      const id = name ?? nameOf(saved.value) ?? "";
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["package", id] }),
        queries.invalidateQueries({ queryKey: ["packages"] }),
      ]);
      done(text.saved(id));
      navigate(`/packages/${encodeURIComponent(id)}${name === undefined ? "" : "?tab=revisions"}`);
    } catch (error) {
      if (name !== undefined && error instanceof ApiError && error.isConflict) setConflict(await readTheirs(name));
      else setFailure(error);
    } finally {
      setBusy(false);
    }
  };

  if (base === undefined) return <Loading rows={8} />;
  return (
    <div className="space-y-4">
      {conflict !== undefined && (
        <Panel title={text.conflictTitle}>
          <p className="mb-3 text-ink-2">{text.conflictText}</p>
          <Editor label={text.conflictDiff} value={draft} original={conflict.theirs} height="20rem" />
          <div className="mt-3 flex flex-wrap justify-end gap-2">
            <Button
              onClick={() => {
                setBase({ text: conflict.theirs, etag: conflict.etag });
                setDraft(conflict.theirs);
                setConflict(undefined);
              }}
            >
              {text.takeTheirs}
            </Button>
            <Button
              variant="primary"
              onClick={() => {
                setBase({ text: conflict.theirs, etag: conflict.etag });
                setConflict(undefined);
              }}
            >
              {text.keepMine}
            </Button>
          </div>
        </Panel>
      )}
      <div className="grid gap-4 xl:grid-cols-[minmax(0,1fr)_24rem]">
        <Panel title={text.document} actions={<CheckState check={check} changed={changed} />}>
          <Editor
            label={text.document}
            value={draft}
            onChange={setDraft}
            violations={check.error instanceof ApiError ? check.error.violations : []}
          />
        </Panel>
        <div className="space-y-4">
          {check.error !== undefined && changed && <Violations error={check.error} />}
          <Violations error={failure} />
          <Panel title={text.save}>
            <form
              className="space-y-3"
              onSubmit={(event) => {
                event.preventDefault();
                void save(base.etag);
              }}
            >
              <label htmlFor={reasonId} className="block space-y-1">
                <span className="text-sm font-medium">{m.common.reason}</span>
                <input
                  id={reasonId}
                  className="field"
                  value={reason}
                  onChange={(event) => setReason(event.target.value)}
                />
              </label>
              <Button
                type="submit"
                variant="primary"
                icon={Save}
                busy={busy}
                disabled={!changed || check.error !== undefined || conflict !== undefined}
              >
                {name === undefined ? text.create : text.saveRevision}
              </Button>
              <p className="text-sm text-ink-2">{text.saveHint}</p>
            </form>
          </Panel>
          {changed && name !== undefined && conflict === undefined && (
            <Panel title={text.yourChanges}>
              <Editor label={text.yourChanges} value={draft} original={base.text} height="16rem" />
            </Panel>
          )}
        </div>
      </div>
    </div>
  );
}

interface DryRun {
  readonly running: boolean;
  readonly error: unknown;
}

/** Sends the draft as a dry run; a newer draft cancels an older check. */
function useDryRun(name: string | undefined, draft: string, enabled: boolean): DryRun {
  const [state, setState] = useState<DryRun>({ running: false, error: undefined });
  useEffect(() => {
    if (!enabled) {
      setState({ running: false, error: undefined });
      return undefined;
    }
    const aborter = new AbortController();
    const timer = setTimeout(() => {
      setState((previous) => ({ ...previous, running: true }));
      const options = { query: { dry_run: true }, body: { yaml: draft }, signal: aborter.signal };
      (name === undefined
        ? call("createPackage", options)
        : call("updatePackage", { ...options, path: { name } })
      ).then(
        () => setState({ running: false, error: undefined }),
        (error: unknown) => {
          if (!aborter.signal.aborted) setState({ running: false, error });
        },
      );
    }, CHECK_MS);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [name, draft, enabled]);
  return state;
}

function CheckState({ check: { running, error }, changed }: { readonly check: DryRun; readonly changed: boolean }) {
  if (!changed) return <span className="text-sm text-ink-3">{text.unchanged}</span>;
  if (running) return <Status state="pending" label={text.checking} />;
  return error === undefined ? (
    <span className="inline-flex items-center gap-1.5 text-ok">
      <CircleCheck size={14} aria-hidden /> {text.valid}
    </span>
  ) : (
    <Status state="failed" label={text.invalid(error instanceof ApiError ? error.violations.length : 0)} />
  );
}

async function readTheirs(name: string): Promise<Conflict> {
  const [{ value, etag }, { toYaml }] = await Promise.all([call("getPackage", { path: { name } }), loadYaml()]);
  return { theirs: toYaml(editable(value)), etag: etag ?? undefined };
}

/** Without nulls, empty lists and the fields that the server sets, which would only be noise in an editor. */
function editable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(editable);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name, each]) => each !== null && name !== "created_at" && name !== "updated_at" && !isEmpty(each))
    .map(([name, each]) => [name, editable(each)] as const)
    .filter(([, each]) => !isEmpty(each));
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const field of ["name", "package_name", "id", "key"])
    if (field in value && typeof (value as Record<string, unknown>)[field] === "string")
      return (value as Record<string, string>)[field];
  return undefined;
}
