import { UsageError } from "../exit-code.ts";
import type { World } from "../world.ts";
import { documentsIn, type Reading, type WishDocument } from "./document.ts";

/** Reads all documents from files, folders and standard input (`-`), with their parse errors. */
export async function readAll(world: World, sources: readonly string[]): Promise<Reading> {
  const texts = (await Promise.all(sources.map((source) => textsOf(world, source)))).flat();
  const readings = texts.map(([name, text]) => documentsIn(text, name));
  const documents = readings.flatMap((reading) => reading.documents);
  const mistakes = readings.flatMap((reading) => reading.mistakes);
  if (documents.length === 0 && mistakes.length === 0)
    throw new UsageError(`no documents in ${sources.join(", ")}`, "use a file with at least one document");
  refuseTwins(documents);
  return { documents, mistakes };
}

/** Reads all documents and throws on any parse error. */
export async function readDocuments(world: World, sources: readonly string[]): Promise<readonly WishDocument[]> {
  const { documents, mistakes } = await readAll(world, sources);
  if (mistakes.length > 0) throw unreadable(mistakes);
  return documents;
}

export function unreadable(mistakes: readonly string[]): UsageError {
  return new UsageError(["some documents cannot be read", ...mistakes.map((line) => `  ${line}`)].join("\n"));
}

async function textsOf(world: World, source: string): Promise<readonly (readonly [string, string])[]> {
  if (source === "-") return [["standard input", await world.terminal.input()]];
  const files = await world.files.list(source);
  const names = files?.filter((file) => /\.(?:ya?ml|json)$/.test(file)) ?? [source];
  return Promise.all(
    names.map(async (name): Promise<readonly [string, string]> => {
      const text = await world.files.read(name);
      if (text === undefined) throw new UsageError(`file ${name} does not exist`, "check the path");
      return [name, text];
    }),
  );
}

/** Rejects two documents for the same object, because the intended one is unknown. */
function refuseTwins(documents: readonly WishDocument[]): void {
  const seen = new Map<string, WishDocument>();
  for (const document of documents) {
    const key = `${document.kind} ${document.name}`;
    const twin = seen.get(key);
    if (twin)
      throw new UsageError(
        `${key} is defined twice: ${twin.placeOf("$")} and ${document.placeOf("$")}`,
        "remove one of them",
      );
    seen.set(key, document);
  }
}

/** Sorts packages before deployments, and each package after its dependencies. */
export function inOrder(documents: readonly WishDocument[]): readonly WishDocument[] {
  const packages = new Map(documents.filter(({ kind }) => kind === "package").map((each) => [each.name, each]));
  const ordered = new Set<WishDocument>();
  const visit = (each: WishDocument, above: ReadonlySet<string>): void => {
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
export function dependenciesOf({ content }: WishDocument): readonly string[] {
  const given = content["dependencies"];
  return Array.isArray(given) ? given.filter((name): name is string => typeof name === "string") : [];
}
