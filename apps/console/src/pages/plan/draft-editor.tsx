import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useState, type ReactNode } from "react";
import { fetchValue } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { fieldOf, withField, type Draft } from "../../lib/draft.ts";
import { m } from "../../messages/en.ts";
import { Editor, loadYaml } from "../../ui/editor.tsx";
import { Panel } from "../../ui/page.tsx";
import { useUrlState } from "../../ui/use-url.ts";

const text = m.plan;

interface DraftEditorProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly isNew: boolean;
  /** The error of the plan of this draft. */
  readonly error: unknown;
}

/** The deployment as a form or as YAML; both edit the same draft. */
export function DraftEditor(props: DraftEditorProps) {
  const [read, write] = useUrlState();
  const isYaml = read("view") === "yaml";
  return (
    <Panel
      title={text.deployment}
      actions={
        <div role="group" aria-label={text.view} className="flex rounded-md border border-line-strong p-0.5">
          {[false, true].map((yaml) => (
            <button
              key={String(yaml)}
              type="button"
              aria-pressed={isYaml === yaml}
              onClick={() => write({ view: yaml ? "yaml" : "" }, true)}
              className={`rounded px-2 py-0.5 text-sm ${isYaml === yaml ? "bg-accent-soft font-medium text-accent" : "text-ink-2"}`}
            >
              {yaml ? text.yaml : text.form}
            </button>
          ))}
        </div>
      }
    >
      {isYaml ? <YamlDraft {...props} /> : <DraftForm {...props} />}
    </Panel>
  );
}

function YamlDraft({ draft, onChange, error }: DraftEditorProps) {
  const [yaml, setYaml] = useState<string>();
  const violations =
    error instanceof ApiError
      ? error.violations.map((each) => ({ ...each, path: each.path.replace("$.deployment", "$") }))
      : [];
  useEffect(() => void loadYaml().then(({ toYaml }) => setYaml((known) => known ?? toYaml(draft))), [draft]);
  const change = async (next: string): Promise<void> => {
    setYaml(next);
    const { fromYaml } = await loadYaml();
    // The editor marks syntax errors; the plan stays that of the last valid text.
    const value = fromYaml(next);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) onChange(value as Draft);
  };
  return yaml === undefined ? null : (
    <Editor
      label={text.deployment}
      value={yaml}
      onChange={(next) => void change(next)}
      violations={violations}
      height="30rem"
    />
  );
}

function Labelled({
  label,
  hint,
  children,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children(id)}
      {hint !== undefined && <p className="text-sm text-ink-3">{hint}</p>}
    </div>
  );
}

/** Packages that are offered for the typed part of a name. */
const OFFERED = 20;

function DraftForm({ draft, onChange, isNew, error }: DraftEditorProps) {
  const name = textOf(draft, ["package_name"]);
  const packages = useQuery({
    queryKey: ["packages", "offered", name],
    queryFn: ({ signal }) =>
      fetchValue("listPackageSummaries", { query: { name_pattern: name, limit: OFFERED }, signal }),
    enabled: isNew,
    placeholderData: keepPreviousData,
  });
  const offered = useId();
  const clusters = useQuery({
    queryKey: ["clusters"],
    queryFn: ({ signal }) => fetchValue("listClusters", { signal }),
  });
  const chosen = packages.data?.find((each) => each.name === name);
  const invalid = new Set(
    error instanceof ApiError ? error.violations.map(({ path }) => path.replace(/^\$\.(deployment\.)?/, "")) : [],
  );
  const set = (path: readonly string[], value: unknown): void => onChange(withField(draft, path, value));
  const field = (path: readonly string[]) => ({ className: "field", "aria-invalid": invalid.has(path.join(".")) });
  const targets = listOf(draft, "target_clusters");
  return (
    <div className="space-y-4">
      <Labelled label={m.terms.package_name}>
        {(id) => (
          <>
            <input
              id={id}
              {...field(["package_name"])}
              readOnly={!isNew}
              list={offered}
              spellCheck={false}
              autoComplete="off"
              value={name}
              onChange={({ target: { value } }) => {
                const [first] = packages.data?.find((each) => each.name === value)?.classes ?? [];
                onChange(withField(withField(draft, ["package_name"], value), ["class_key"], first));
              }}
            />
            <datalist id={offered}>
              {packages.data?.map((each) => (
                <option key={each.name} value={each.name} />
              ))}
            </datalist>
          </>
        )}
      </Labelled>
      <Labelled label={m.terms.class}>
        {(id) => (
          <select
            id={id}
            {...field(["class_key"])}
            disabled={!isNew}
            value={textOf(draft, ["class_key"])}
            onChange={(event) => set(["class_key"], event.target.value)}
          >
            <option value="">{text.choose}</option>
            {[
              ...new Set([...(chosen?.classes ?? []), ...[textOf(draft, ["class_key"])].filter((each) => each !== "")]),
            ].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        )}
      </Labelled>
      <Labelled label={text.key} hint={text.keyHint}>
        {(id) => (
          <input
            id={id}
            {...field(["key"])}
            readOnly={!isNew}
            spellCheck={false}
            value={textOf(draft, ["key"])}
            onChange={(event) => set(["key"], event.target.value)}
          />
        )}
      </Labelled>
      <div className="grid grid-cols-2 gap-3">
        <NumberField
          label={text.availability}
          path={["nfr_requirements", "availability"]}
          scale={100}
          step="any"
          {...{ draft, set, field }}
        />
        <NumberField
          label={text.throughput}
          path={["nfr_requirements", "min_throughput_rps"]}
          {...{ draft, set, field }}
        />
        <NumberField label={text.latency} path={["nfr_requirements", "max_latency_ms"]} {...{ draft, set, field }} />
        <Labelled label={text.replan}>
          {(id) => (
            <select
              id={id}
              {...field(["replan"])}
              value={textOf(draft, ["replan"])}
              onChange={(event) => set(["replan"], event.target.value)}
            >
              <option value="">{text.replanDefault}</option>
              {["auto", "propose", "off"].map((mode) => (
                <option key={mode} value={mode}>
                  {text.replanModes[mode as "auto"]}
                </option>
              ))}
            </select>
          )}
        </Labelled>
      </div>
      <fieldset>
        <legend className="text-sm font-medium">{text.targets}</legend>
        <p className="text-sm text-ink-3">{text.targetsHint}</p>
        <div className="mt-1.5 flex flex-wrap gap-x-4 gap-y-1">
          {[...new Set([...(clusters.data ?? []).map((each) => each.name), ...targets])].map((each) => (
            <label key={each} className="flex items-center gap-1.5">
              <input
                type="checkbox"
                checked={targets.includes(each)}
                onChange={(event) =>
                  set(
                    ["target_clusters"],
                    event.target.checked ? [...targets, each] : targets.filter((other) => other !== each),
                  )
                }
              />
              {each}
            </label>
          ))}
        </div>
      </fieldset>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={draft["allow_best_effort"] === true}
          onChange={(event) => set(["allow_best_effort"], event.target.checked || undefined)}
        />
        {text.bestEffort}
      </label>
      {invalid.size > 0 && error instanceof ApiError && (
        <ul role="alert" className="space-y-1 text-sm text-bad">
          {error.violations.map(({ path, message, fix }) => (
            <li key={path + message}>
              <code>{path}</code>: {message}
              {fix !== undefined && `; ${fix}`}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly path: readonly string[];
  /** Shown value = stored value × scale. */
  readonly scale?: number;
  readonly step?: string;
  readonly draft: Draft;
  readonly set: (path: readonly string[], value: unknown) => void;
  readonly field: (path: readonly string[]) => object;
}

function NumberField({ label, path, scale = 1, step, draft, set, field }: NumberFieldProps) {
  const stored = fieldOf(draft, path);
  const value = typeof stored === "number" ? String(Number((stored * scale).toPrecision(12))) : "";
  return (
    <Labelled label={label}>
      {(id) => (
        <input
          id={id}
          {...field(path)}
          type="number"
          min={0}
          {...(step !== undefined && { step })}
          value={value}
          onChange={(event) =>
            set(
              path,
              event.target.value === "" ? undefined : Number((Number(event.target.value) / scale).toPrecision(12)),
            )
          }
        />
      )}
    </Labelled>
  );
}

function textOf(draft: Draft, path: readonly string[]): string {
  const value = fieldOf(draft, path);
  return typeof value === "string" ? value : "";
}

function listOf(draft: Draft, name: string): readonly string[] {
  const value = draft[name];
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}
