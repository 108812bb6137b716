import type { FindingWire } from "@oaas/contracts/rest";
import type { Schemas } from "../../documents/json-schema.ts";
import { describeField, isFieldPath, type FieldDescription } from "../../documents/field-description.ts";
import { findKind, parseDeploymentKey } from "../../command/kinds.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { stateText } from "../../output/colours.ts";
import { tableText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";

/**
 * Explains a deployment (`shop-order`, `deployment/shop-order`, `deployment shop-order`) or describes a field
 * (`package.classes.state_spec`, `pkg.classes`). A name that is also a kind is a field path: `deployment/NAME` always
 * names the deployment.
 */
export async function explain(
  session: Session,
  flags: { readonly cluster?: string },
  what: string,
  name?: string,
): Promise<ExitCode | void> {
  const path = fieldPathOf(what);
  if (name !== undefined || path === undefined)
    return explainDeployment(session, flags, parseDeploymentKey(name === undefined ? what : `${what}/${name}`));
  const { openApiDocument } = await import("@oaas/contracts/rest");
  const { components } = openApiDocument("") as unknown as { readonly components: { readonly schemas: Schemas } };
  const field = describeField(path, components.schemas);
  session.printItem(field, { kind: "field", nameOf: ({ path }) => path, columns: [] }, () => fieldText(field, session));
  return EXIT.done;
}

/** The field path with the full name of its kind; undefined for a deployment. */
function fieldPathOf(text: string): string | undefined {
  const [first = "", ...fields] = text.split(".");
  const path = [findKind(first)?.name ?? first, ...fields].join(".");
  return isFieldPath(path) ? path : undefined;
}

export async function explainDeployment(
  session: Session,
  flags: { readonly cluster?: string },
  key: string,
): Promise<void> {
  const { value } = await session.call("explainDeployment", { parameters: { key }, query: { cluster: flags.cluster } });
  session.printItem(value, { kind: "explanation", nameOf: () => key, columns: [] }, () => {
    const { colours } = session;
    const head = `${value.summary} (${stateText(value.verdict, colours)})\n`;
    const advice = value.suggested_action === "" ? "" : `${colours.bold("fix:")} ${value.suggested_action}\n`;
    const clusters = value.clusters.map(({ cluster, finding, error }) => {
      const below = finding ? findingText(finding, 1, session) : `  ${error ?? "no information"}\n`;
      return `\n${colours.bold(cluster)}\n${below}`;
    });
    return head + advice + clusters.join("");
  });
}

/** Formats a finding and, indented below it, its causes. */
function findingText(finding: FindingWire, depth: number, session: Session): string {
  const { colours } = session;
  const { level, name, verdict, reason, message, suggested_action: action, causes } = finding;
  const indent = "  ".repeat(depth);
  const what = [reason, message].filter((words) => words !== "").join(": ");
  const line = `${indent}${level} ${name}  ${stateText(verdict, colours)} ${what}\n`;
  const advice = action === "" || causes.length > 0 ? "" : `${indent}  ${colours.dim(`fix: ${action}`)}\n`;
  return line + advice + causes.map((cause) => findingText(cause, depth + 1, session)).join("");
}

function fieldText(
  { path, type, isRequired, description, allowed, fields }: FieldDescription,
  { colours }: Session,
): string {
  const head = `${colours.bold(path)}  ${type}${isRequired ? ", required" : ""}\n${description}\n`;
  const may = allowed.length === 0 ? "" : `Allowed: ${allowed.join(", ")}\n`;
  if (fields.length === 0) return head + may;
  const below = tableText(fields, [
    { header: "FIELD", cell: (each) => `${each.path.split(".").at(-1) ?? ""}${each.isRequired ? "*" : ""}` },
    { header: "TYPE", cell: (each) => each.type },
    {
      header: "DESCRIPTION",
      cell: (each) => `${each.description}${each.allowed.length === 0 ? "" : ` (${each.allowed.join(", ")})`}`,
    },
  ]);
  return `${head}${may}\n${below}${fields.some((each) => each.isRequired) ? colours.dim("* required\n") : ""}`;
}
