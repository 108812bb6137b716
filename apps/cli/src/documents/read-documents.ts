import { UsageError } from "../exit-code.ts";
import type { ProcessEnvironment } from "../process-environment.ts";
import { parseDocuments, type ParsedDocuments, type ResourceDocument } from "./document.ts";

/** Reads all documents from files, folders and standard input (`-`), with their parse errors. */
export async function readSources(
  environment: ProcessEnvironment,
  sources: readonly string[],
): Promise<ParsedDocuments> {
  const texts = (await Promise.all(sources.map((source) => textsOf(environment, source)))).flat();
  const readings = texts.map(([name, text]) => parseDocuments(text, name));
  const documents = readings.flatMap((reading) => reading.documents);
  const errors = readings.flatMap((reading) => reading.errors);
  if (documents.length === 0 && errors.length === 0)
    throw new UsageError(`no documents in ${sources.join(", ")}`, "use a file with at least one document");
  rejectDuplicates(documents);
  return { documents, errors };
}

/** Reads all documents and throws on any parse error. */
export async function readDocuments(
  environment: ProcessEnvironment,
  sources: readonly string[],
): Promise<readonly ResourceDocument[]> {
  const { documents, errors } = await readSources(environment, sources);
  if (errors.length > 0) throw parseFailure(errors);
  return documents;
}

export function parseFailure(errors: readonly string[]): UsageError {
  return new UsageError(["some documents cannot be read", ...errors.map((line) => `  ${line}`)].join("\n"));
}

async function textsOf(
  environment: ProcessEnvironment,
  source: string,
): Promise<readonly (readonly [string, string])[]> {
  if (source === "-") return [["standard input", await environment.terminal.readStdin()]];
  const files = await environment.files.list(source);
  const names = files?.filter((file) => /\.(?:ya?ml|json)$/.test(file)) ?? [source];
  return Promise.all(
    names.map(async (name): Promise<readonly [string, string]> => {
      const text = await environment.files.read(name);
      if (text === undefined) throw new UsageError(`file ${name} does not exist`, "check the path");
      return [name, text];
    }),
  );
}

/** Rejects two documents for the same object, because the intended one is unknown. */
function rejectDuplicates(documents: readonly ResourceDocument[]): void {
  const seen = new Map<string, ResourceDocument>();
  for (const document of documents) {
    const key = `${document.kind} ${document.name}`;
    const duplicate = seen.get(key);
    if (duplicate)
      throw new UsageError(
        `${key} is defined twice: ${duplicate.locationOf("$")} and ${document.locationOf("$")}`,
        "remove one of them",
      );
    seen.set(key, document);
  }
}

/** Sorts packages before deployments, and each package after its dependencies. */
export function sortByDependency(documents: readonly ResourceDocument[]): readonly ResourceDocument[] {
  const packages = new Map(documents.filter(({ kind }) => kind === "package").map((each) => [each.name, each]));
  const ordered = new Set<ResourceDocument>();
  const visit = (each: ResourceDocument, above: ReadonlySet<string>): void => {
    if (above.has(each.name)) return;
    for (const name of dependenciesOf(each)) {
      const needed = packages.get(name);
      if (needed && needed !== each) visit(needed, new Set([...above, each.name]));
    }
    ordered.add(each);
  };
  for (const each of packages.values()) visit(each, new Set());
  return [...ordered, ...documents.filter(({ kind }) => kind === "deployment")];
}

/** The dependencies that a package declares. */
export function dependenciesOf({ content }: ResourceDocument): readonly string[] {
  const dependencies = content["dependencies"];
  return Array.isArray(dependencies) ? dependencies.filter((name): name is string => typeof name === "string") : [];
}
