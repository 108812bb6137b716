import { patternRule } from "./text-rule.ts";

/**
 * Name rules. All names except the unit id are valid Kubernetes label values, so that they can be used in labels and
 * URLs unchanged. Upper case is allowed because existing packages use it (`Record`).
 */
const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const LABEL_VALUE_FIX = "use letters, digits, '-', '_' and '.', with a letter or digit at both ends";

/** A DNS label for a Kubernetes Service (RFC 1035): starts with a letter, at most 63 characters. */
const DNS_LABEL = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;

export const PACKAGE_NAME = patternRule({
  what: "a package name",
  pattern: LABEL_VALUE,
  maxLength: 63,
  fix: LABEL_VALUE_FIX,
});

/** No dot, because `package.Class` is split at its last dot. */
export const CLASS_KEY = patternRule({
  what: "a class key",
  pattern: /^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$/,
  maxLength: 63,
  fix: "use letters, digits, '-' and '_', with a letter or digit at both ends; a class key has no dot",
});

export const FUNCTION_KEY = patternRule({
  what: "a function key",
  pattern: LABEL_VALUE,
  maxLength: 253,
  fix: LABEL_VALUE_FIX,
});

/** May start with an underscore, as in `_on_create`. */
export const BINDING_NAME = patternRule({
  what: "a method name",
  pattern: /^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?$/,
  maxLength: 63,
  fix: "use letters, digits, '-', '_' and '.', with a letter, digit or '_' at both ends",
});

export const DEPLOYMENT_KEY = patternRule({
  what: "a deployment key",
  pattern: LABEL_VALUE,
  maxLength: 253,
  fix: LABEL_VALUE_FIX,
});

export const CLUSTER_NAME = patternRule({
  what: "a cluster name",
  pattern: LABEL_VALUE,
  maxLength: 63,
  fix: LABEL_VALUE_FIX,
});

/** A Kubernetes namespace (RFC 1123 label). */
export const NAMESPACE = patternRule({
  what: "a namespace",
  pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
  maxLength: 63,
  fix: "use lower-case letters, digits and '-', with a letter or digit at both ends",
});

export const UNIT_ID = patternRule({
  what: "a DNS label",
  pattern: DNS_LABEL,
  maxLength: 63,
  fix: "use lower-case letters, digits and '-', starting with a letter and ending with a letter or digit",
});

/** Name of a Kubernetes object, or of a built-in template such as `k8s_deployment`. */
export const TEMPLATE_NAME = patternRule({
  what: "a template name",
  pattern: LABEL_VALUE,
  maxLength: 253,
  fix: LABEL_VALUE_FIX,
});

/** Name of an ODGM collection, usually `package.Class`. */
export const COLLECTION_NAME = patternRule({
  what: "a collection name",
  pattern: LABEL_VALUE,
  maxLength: 253,
  fix: LABEL_VALUE_FIX,
});

/** Key of the config of a function: an environment variable of its container. */
export const CONFIG_KEY = patternRule({
  what: "the name of an environment variable",
  pattern: /^[\x21-\x3c\x3e-\x7e]+$/,
  maxLength: 253,
  fix: "use printable ASCII characters without spaces and without '='",
});
