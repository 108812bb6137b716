import { failedQuery } from "../errors.ts";
import { labelValue, withLabel, type Labels } from "../labels.ts";
import { compileRegex, type Groups, type SpendSteps } from "../regex/regex.ts";

const LABEL_NAME = /^[a-zA-Z_]\w*$/;

/** `label_replace`: writes the replacement into a label where the whole source label matches. */
export function replaceLabel(strings: readonly string[], spend: SpendSteps): (labels: Labels) => Labels {
  const [target = "", replacement = "", source = "", pattern = ""] = strings;
  checkName(target, "destination", "label_replace");
  const regex = compileRegex(pattern, spend);
  return (labels) => {
    const groups = regex.match(labelValue(labels, source));
    return groups ? withLabel(labels, target, expand(replacement, groups, regex.groupNames)) : labels;
  };
}

/** `label_join`: joins the values of labels. */
export function joinLabels(strings: readonly string[]): (labels: Labels) => Labels {
  const [target = "", separator = "", ...sources] = strings;
  checkName(target, "destination", "label_join");
  for (const source of sources) checkName(source, "source", "label_join");
  return (labels) => withLabel(labels, target, sources.map((name) => labelValue(labels, name)).join(separator));
}

function checkName(name: string, role: string, call: string): void {
  if (!LABEL_NAME.test(name)) throw failedQuery(`invalid ${role} label name in ${call}(): ${name}`);
}

/** Replaces `$1`, `${1}`, `$name` and `${name}` as Go's Expand: the longest name wins, and `$$` is a dollar sign. */
function expand(template: string, groups: Groups, names: readonly (string | undefined)[]): string {
  return template.replaceAll(/\$(?:\$|\{(\w{1,100})\}|(\w{1,100}))/g, (_, braced?: string, plain?: string) => {
    const name = braced ?? plain;
    if (name === undefined) return "$";
    const number = /^\d{1,3}$/.test(name) ? Number(name) : names.indexOf(name);
    return groups[number] ?? "";
  });
}
