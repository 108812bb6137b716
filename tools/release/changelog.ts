/** The entries of one version. */
export interface ChangelogSection {
  readonly title: string;
  readonly body: string;
}

const UNRELEASED = "Unreleased";

/** Reads the sections of a changelog in the format of Keep a Changelog. */
export function readSections(text: string): readonly ChangelogSection[] {
  const [, ...parts] = text.split(/^## /m);
  return parts.map((part) => {
    const end = part.indexOf("\n");
    return { title: part.slice(0, end).trim(), body: part.slice(end + 1).trim() };
  });
}

/** The entries of a version; before its release these are the unreleased ones. Undefined if there are none. */
export function findNotes(text: string, version: string): string | undefined {
  const sections = readSections(text);
  const own = sections.find(({ title }) => title === version || title.startsWith(`${version} - `));
  const found = own ?? sections.find(({ title }) => title === UNRELEASED);
  return found === undefined || found.body === "" ? undefined : found.body;
}

/** Turns the unreleased entries into the section of a version, and begins an empty one. */
export function releaseSection(text: string, version: string, date: string): string {
  const sections = readSections(text);
  if (sections.some(({ title }) => title.startsWith(`${version} - `))) {
    throw new Error(`CHANGELOG.md already has a section ${version}`);
  }
  if (!sections.some(({ title, body }) => title === UNRELEASED && body !== "")) {
    throw new Error(`CHANGELOG.md has no entries in "## ${UNRELEASED}"`);
  }
  return text.replace(`## ${UNRELEASED}\n`, `## ${UNRELEASED}\n\n## ${version} - ${date}\n`);
}
