import { DATA_KEY, ENV_NAME, FIELD_PATH, OBJECT_NAME } from "@oaas/models";
import { z } from "zod";
import { keyedList } from "../crd/collections.ts";
import { exactlyOneOf, withRules } from "../crd/rule.ts";
import { ruledText } from "./text.ts";

export const objectName = ruledText(OBJECT_NAME);
export const optional = z.boolean().optional().describe("Whether the pod may start without it.");

const keyReference = (kind: string) =>
  z
    .object({
      name: objectName.describe(`Name of the ${kind}.`),
      key: ruledText(DATA_KEY).describe(`Key of the ${kind}.`),
      optional,
    })
    .optional()
    .describe(`Value of a key of a ${kind}.`);

/** The divisors that Kubernetes accepts: those of CPU, then those of bytes. */
const CPU_DIVISORS = ["1m", "1"];
const BYTE_DIVISORS = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

const resourceFieldRef = withRules(
  z.object({
    resource: z
      .enum([
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
      ])
      .describe("Request or limit of the function's container."),
    divisor: z
      .enum([...new Set([...CPU_DIVISORS, ...BYTE_DIVISORS])])
      .optional()
      .describe("Unit of the value: 1 or 1m for CPU, 1, 1k, 1Mi and so on for bytes."),
  }),
  {
    cel: "!has(self.divisor) || (self.resource.endsWith('.cpu') ? self.divisor in ['1m', '1'] : self.divisor != '1m')",
    message: "divisor must fit the resource: 1 or 1m for CPU, 1, 1k, 1Mi and so on for bytes",
    at: "divisor",
    fix: "use 1 or 1m for CPU, and 1, 1k, 1Mi or another power for bytes",
    holds: ({ resource, divisor }) =>
      divisor === undefined || (resource.endsWith(".cpu") ? CPU_DIVISORS : BYTE_DIVISORS).includes(divisor),
  },
);

const VALUE_SOURCES = ["secretKeyRef", "configMapKeyRef", "fieldRef", "resourceFieldRef"] as const;

const valueFrom = withRules(
  z.object({
    secretKeyRef: keyReference("Secret"),
    configMapKeyRef: keyReference("ConfigMap"),
    fieldRef: z
      .object({
        apiVersion: z.enum(["v1"]).optional().describe("Always v1."),
        fieldPath: ruledText(FIELD_PATH).describe("Path of the field, such as metadata.name."),
      })
      .optional()
      .describe("Value of a field of the pod."),
    resourceFieldRef: resourceFieldRef.optional().describe("A request or limit of the container."),
  }),
  exactlyOneOf("valueFrom", VALUE_SOURCES),
);

const envVar = withRules(
  z.object({
    name: ruledText(ENV_NAME).describe("Name of the variable."),
    value: z.string().max(32_768).optional().describe("Value. `$(OTHER)` is replaced by the variable OTHER."),
    valueFrom: valueFrom.optional().describe("Reference to the value."),
  }),
  {
    cel: "!has(self.value) || !has(self.valueFrom)",
    message: "a variable has either value or valueFrom",
    at: "valueFrom",
    fix: "remove value or valueFrom",
    holds: ({ value, valueFrom: source }) => value === undefined || source === undefined,
  },
);

const objectReference = (kind: string) =>
  z
    .object({ name: objectName.describe(`Name of the ${kind}.`), optional })
    .optional()
    .describe(`${kind} whose keys become variables.`);

const envFromSource = withRules(
  z.object({
    prefix: ruledText(ENV_NAME).optional().describe("Prefix of each variable."),
    secretRef: objectReference("Secret"),
    configMapRef: objectReference("ConfigMap"),
  }),
  exactlyOneOf("envFrom", ["secretRef", "configMapRef"]),
);

/** Environment variables, by name. */
export const env = keyedList(envVar, "name", 128);

export const envFrom = z.array(envFromSource).max(32);
