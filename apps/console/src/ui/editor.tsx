import { useEffect, useRef, useState } from "react";
import type { Violation } from "../api/errors.ts";
import type * as codemirror from "./codemirror.ts";
import { Loading } from "./states.tsx";

interface EditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange?: (text: string) => void;
  readonly violations?: readonly Violation[];
  /** Shows the changes from this text instead of violations. */
  readonly original?: string;
  readonly height?: string;
}

type Module = typeof codemirror;
type View = ReturnType<Module["createEditor"]>;

/** A YAML editor, read-only without `onChange`. It loads when it is shown. */
export function Editor({ label, value, onChange, violations = [], original, height = "28rem" }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<View>(undefined);
  const [module, setModule] = useState<Module>();
  const notify = useRef(onChange);
  notify.current = onChange;
  const readOnly = onChange === undefined;
  const initial = useRef(value);
  initial.current = value;
  useEffect(() => void import("./codemirror.ts").then(setModule), []);
  useEffect(() => {
    const element = host.current;
    if (module === undefined || element === null) return undefined;
    const shadow = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const created = module.createEditor({
      host: shadow,
      text: initial.current,
      label,
      readOnly,
      original,
      onChange: (text) => notify.current?.(text),
    });
    view.current = created;
    return () => {
      created.destroy();
      view.current = undefined;
    };
  }, [module, label, readOnly, original]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value, module]);
  useEffect(() => {
    if (view.current !== undefined && original === undefined) module?.showProblems(view.current, violations);
  }, [module, violations, value, original]);
  return (
    <>
      {module === undefined && <Loading rows={6} />}
      <div
        ref={host}
        className="overflow-auto rounded-lg border border-line"
        style={{ height: module === undefined ? 0 : height }}
        data-editor={label}
      />
    </>
  );
}

/** Converts between values and YAML with the module of the editor. */
export async function loadYaml(): Promise<Pick<Module, "toYaml" | "fromYaml">> {
  return import("./codemirror.ts");
}
