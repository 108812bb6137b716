import { equalJson, type JsonObject } from "@oaas/kube-core";
import { hasObject, objectAt, objectsAt, textAt, textsAt } from "../json-access.ts";
import { invalid, NONE, required, unsupported, type Errors } from "../validation/field-errors.ts";
import { pathSegment } from "../validation/names.ts";
import { validateSelector } from "../validation/selectors.ts";
import type { BuiltInRule } from "./built-in-rule.ts";

const GROUP = "rbac.authorization.k8s.io";

export const roles: BuiltInRule = {
  name: pathSegment,
  countsGenerations: false,
  errors: (role) => objectsAt(role, "rules").flatMap((rule, index) => validateRule(rule, `rules[${index}]`, true)),
};

export const clusterRoles: BuiltInRule = {
  name: pathSegment,
  countsGenerations: false,
  errors: (role) => [
    ...objectsAt(role, "rules").flatMap((rule, index) => validateRule(rule, `rules[${index}]`, false)),
    ...(hasObject(role, "aggregationRule") ? validateAggregation(objectAt(role, "aggregationRule")) : NONE),
  ],
};

function validateAggregation(rule: JsonObject): Errors {
  const field = "aggregationRule.clusterRoleSelectors";
  const selectors = objectsAt(rule, "clusterRoleSelectors");
  if (selectors.length === 0)
    return [required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  return selectors.flatMap((selector, index) => validateSelector(selector, `${field}[${index}]`));
}

function validateRule(rule: JsonObject, field: string, isNamespaced: boolean): Errors {
  const [verbs, groups, resources, urls] = ["verbs", "apiGroups", "resources", "nonResourceURLs"].map((name) =>
    textsAt(rule, name),
  );
  const verbErrors =
    (verbs ?? []).length === 0 ? [required(`${field}.verbs`, "verbs must contain at least one value")] : NONE;
  if ((urls ?? []).length > 0) {
    const at = `${field}.nonResourceURLs`;
    if (isNamespaced) return [...verbErrors, invalid(at, urls, "namespaced rules cannot apply to non-resource URLs")];
    const isBoth = (groups ?? []).length + (resources ?? []).length > 0;
    return isBoth
      ? [...verbErrors, invalid(at, urls, "rules cannot apply to both regular resources and non-resource URLs")]
      : verbErrors;
  }
  return [
    ...verbErrors,
    ...((groups ?? []).length === 0
      ? [required(`${field}.apiGroups`, "resource rules must supply at least one api group")]
      : NONE),
    ...((resources ?? []).length === 0
      ? [required(`${field}.resources`, "resource rules must supply at least one resource")]
      : NONE),
  ];
}

export const roleBindings: BuiltInRule = createBindingRule(["Role", "ClusterRole"]);
export const clusterRoleBindings: BuiltInRule = createBindingRule(["ClusterRole"]);

function createBindingRule(kinds: readonly string[]): BuiltInRule {
  return {
    name: pathSegment,
    countsGenerations: false,
    errors: (binding) => [
      ...validateRoleRef(objectAt(binding, "roleRef"), kinds),
      ...objectsAt(binding, "subjects").flatMap((subject, index) =>
        validateSubject(subject, `subjects[${index}]`, kinds.length === 1),
      ),
    ],
    updateErrors(next, live) {
      const [now, before] = [next, live].map((object) => objectAt(object, "roleRef"));
      if (equalJson(now ?? {}, before ?? {})) return NONE;
      const newRoleRef = {
        APIGroup: textAt(now ?? {}, "apiGroup"),
        Kind: textAt(now ?? {}, "kind"),
        Name: textAt(now ?? {}, "name"),
      };
      return [invalid("roleRef", newRoleRef, "cannot change roleRef")];
    },
  };
}

function validateRoleRef(role: JsonObject, kinds: readonly string[]): Errors {
  const [group, kind, name] = ["apiGroup", "kind", "name"].map((member) => textAt(role, member));
  return [
    ...(group === GROUP ? NONE : [unsupported("roleRef.apiGroup", group, [GROUP])]),
    ...(kinds.includes(kind ?? "") ? NONE : [unsupported("roleRef.kind", kind, kinds)]),
    ...(name === ""
      ? [required("roleRef.name")]
      : pathSegment(name ?? "", false).map((detail) => invalid("roleRef.name", name, detail))),
  ];
}

function validateSubject(subject: JsonObject, field: string, isClusterWide: boolean): Errors {
  const [kind, group] = [textAt(subject, "kind"), textAt(subject, "apiGroup")];
  const kinds = ["ServiceAccount", "User", "Group"];
  const expectedGroup = kind === "ServiceAccount" ? "" : GROUP;
  return [
    ...(textAt(subject, "name") === "" ? [required(`${field}.name`)] : NONE),
    ...(kinds.includes(kind) ? NONE : [unsupported(`${field}.kind`, kind, kinds)]),
    ...(kinds.includes(kind) && group !== expectedGroup
      ? [unsupported(`${field}.apiGroup`, group, [expectedGroup])]
      : NONE),
    ...(isClusterWide && kind === "ServiceAccount" && textAt(subject, "namespace") === ""
      ? [required(`${field}.namespace`)]
      : NONE),
  ];
}
