import type { Schemas } from "../../documents/json-schema.ts";
import { describeField, isFieldPath, type FieldDescription } from "../../documents/field-description.ts";
import { findKind, parseDeploymentKey } from "../../command/kinds.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { explanationText } from "../../output/explanation-text.ts";
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
  const kubeconfigs =
    session.isHumanOutput && value.verdict !== "healthy" ? await stackKubeconfigs(session) : new Map();
  const context = {
    colours: session.colours,
    commandLine: (words: string) => session.commandLine(words),
    kubeconfigs,
  };
  session.printItem(value, { kind: "explanation", nameOf: () => key, columns: [] }, () =>
    explanationText(value, context),
  );
}

/** The kubeconfigs of the local stack, if its package manager is the one in use. */
async function stackKubeconfigs(session: Session): Promise<ReadonlyMap<string, string>> {
  const { dataFolder, findStack } = await import("../local-stack/running-stack.ts");
  const { environment } = session;
  const stack = await findStack(environment, dataFolder({}, environment)).catch(() => undefined);
  const health = await stack?.health();
  const { pmUrl } = await session.context();
  if (health?.package_manager.url !== pmUrl) return new Map();
  return new Map(
    health.clusters.flatMap(({ name, kubeconfig }) => (kubeconfig === undefined ? [] : [[name, kubeconfig] as const])),
  );
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
