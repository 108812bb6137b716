import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { parseYamlValue } from "@oaas/foundation/yaml";
import { stringify } from "yaml";
import { placeOfPath, syntaxProblems } from "../lib/yaml-places.ts";
import type { Violation } from "../api/errors.ts";

const THEME = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "0.8125rem", height: "100%" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "light-dark(rgb(67 56 202 / 5%), rgb(165 163 255 / 7%))" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
  ".cm-changedLine": { backgroundColor: "light-dark(rgb(20 113 63 / 10%), rgb(95 211 148 / 12%)) !important" },
  ".cm-changedText": { background: "light-dark(rgb(20 113 63 / 22%), rgb(95 211 148 / 26%)) !important" },
  ".cm-deletedChunk": {
    backgroundColor: "light-dark(rgb(179 33 44 / 9%), rgb(255 143 143 / 12%)) !important",
    color: "var(--ink)",
  },
  ".cm-deletedText": { background: "light-dark(rgb(179 33 44 / 20%), rgb(255 143 143 / 24%)) !important" },
  ".cm-collapsedLines": { background: "var(--sunken)", color: "var(--ink-2)" },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--info)" },
  { tag: tags.comment, color: "var(--ink-3)", fontStyle: "italic" },
]);

const editable = new Compartment();

interface Options {
  readonly host: ShadowRoot;
  readonly text: string;
  readonly label: string;
  readonly readOnly: boolean;
  /** Shows the changes from this text. */
  readonly original?: string | undefined;
  readonly onChange: (text: string) => void;
}

/**
 * An editor in a shadow root: there, CodeMirror uses constructable style sheets. In the document it would add a style element,
 * which the content security policy blocks.
 */
export function createEditor({ host, text, label, readOnly, original, onChange }: Options): EditorView {
  const extensions: Extension[] = [
    lineNumbers(),
    history(),
    highlightActiveLine(),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    yaml(),
    syntaxHighlighting(COLOURS),
    THEME,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      "aria-label": label,
      ...(readOnly ? { "aria-readonly": "true", tabindex: "0" } : {}),
    }),
    editable.of([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
  if (original === undefined) extensions.push(lintGutter());
  else
    extensions.push(
      unifiedMergeView({ original, mergeControls: false, gutter: true, collapseUnchanged: { margin: 4, minSize: 6 } }),
    );
  const view = new EditorView({ parent: host, root: host, state: EditorState.create({ doc: text, extensions }) });
  // A keyboard scrolls the text also where it cannot be edited.
  view.scrollDOM.tabIndex = 0;
  if (original === undefined) showProblems(view, []);
  return view;
}

/** Marks syntax errors and the server's violations at their lines. */
export function showProblems(view: EditorView, violations: readonly Violation[]): void {
  const text = view.state.doc.toString();
  const diagnostics: Diagnostic[] = [
    ...syntaxProblems(text).map((problem) => ({ ...problem, severity: "error" as const })),
    ...violations.map(({ path, message, fix }) => ({
      ...placeOfPath(text, path),
      severity: "error" as const,
      message: fix === undefined ? message : `${message}; ${fix}`,
    })),
  ];
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

export function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0 });
}

/** The value of a text; undefined when it is not valid. */
export function fromYaml(text: string): unknown {
  const read = parseYamlValue(text);
  return read.ok ? read.value : undefined;
}
