import type { Schemas } from "../documents/json-schema.ts";
import { explainField, isFieldPath, type FieldWords } from "../documents/schema-words.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { tableText } from "../output/table.ts";
import type { Session } from "../session/session.ts";
import { explainDeployment } from "./deployments.ts";

/** Explains a deployment (`shop-order`) or describes a field (`package.classes.state_spec`). */
export async function explain(
  session: Session,
  flags: { readonly cluster?: string },
  what: string,
): Promise<ExitCode | void> {
  if (!isFieldPath(what)) return explainDeployment(session, flags, what);
  const { openApiDocument } = await import("@oaas/contracts/rest");
  const { components } = openApiDocument("") as unknown as { readonly components: { readonly schemas: Schemas } };
  const field = explainField(what, components.schemas);
  session.item(field, { kind: "field", nameOf: ({ path }) => path, columns: [] }, () => fieldText(field, session));
  return EXIT.done;
}

function fieldText({ path, type, isRequired, description, allowed, fields }: FieldWords, { colours }: Session): string {
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
