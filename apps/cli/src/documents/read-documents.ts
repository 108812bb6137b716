import { UsageError } from "../exit-code.ts";
import type { World } from "../world.ts";
import { documentsIn, type Reading, type WishDocument } from "./document.ts";

/** Every document of files, folders and standard input (`-`), and what cannot be read as one. */
export async function readAll(world: World, sources: readonly string[]): Promise<Reading> {
  const texts = (await Promise.all(sources.map((source) => textsOf(world, source)))).flat();
  const readings = texts.map(([name, text]) => documentsIn(text, name));
  const documents = readings.flatMap((reading) => reading.documents);
  const mistakes = readings.flatMap((reading) => reading.mistakes);
  if (documents.length === 0 && mistakes.length === 0)
    throw new UsageError(`nothing to read in ${sources.join(", ")}`, "name a file with at least one document");
  refuseTwins(documents);
  return { documents, mistakes };
}

/** The same, for those who need all of it to be good. */
export async function readDocuments(world: World, sources: readonly string[]): Promise<readonly WishDocument[]> {
  const { documents, mistakes } = await readAll(world, sources);
  if (mistakes.length > 0) throw unreadable(mistakes);
  return documents;
}

/** What is told of documents that cannot be read. */
export function unreadable(mistakes: readonly string[]): UsageError {
  return new UsageError(["not all of it can be read", ...mistakes.map((line) => `  ${line}`)].join("\n"));
}

async function textsOf(world: World, source: string): Promise<readonly (readonly [string, string])[]> {
  if (source === "-") return [["standard input", await world.terminal.input()]];
  const files = await world.files.list(source);
  const names = files?.filter((file) => /\.(?:ya?ml|json)$/.test(file)) ?? [source];
  return Promise.all(
    names.map(async (name): Promise<readonly [string, string]> => {
      const text = await world.files.read(name);
      if (text === undefined) throw new UsageError(`there is no file ${name}`, "check the path");
      return [name, text];
    }),
  );
}

/** The same thing twice would be applied twice; which of them was meant nobody can tell. */
function refuseTwins(documents: readonly WishDocument[]): void {
  const seen = new Map<string, WishDocument>();
  for (const document of documents) {
    const key = `${document.kind} ${document.name}`;
    const twin = seen.get(key);
    if (twin)
      throw new UsageError(
        `${key} is in ${twin.placeOf("$")} and again in ${document.placeOf("$")}`,
        "keep one of them",
      );
    seen.set(key, document);
  }
}

/** Packages before the deployments that need them; packages in an order that has dependencies first as far as they are here. */
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

/** Packages that a package says it needs. */
export function dependenciesOf({ content }: WishDocument): readonly string[] {
  const given = content["dependencies"];
  return Array.isArray(given) ? given.filter((name): name is string => typeof name === "string") : [];
}
