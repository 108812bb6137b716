const SEMVER = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9a-z]+(?:\.[0-9a-z]+)*)?$/;

export function isVersion(text: string): boolean {
  return SEMVER.test(text);
}

/** The places of our version in a file, by the end of its path. Other numbers that look the same are left alone. */
const PLACES: readonly { readonly file: RegExp; readonly before: string; readonly after: string }[] = [
  { file: /package\.json$/, before: String.raw`^  "version": "`, after: `"` },
  { file: /package(-lock)?\.json$/, before: String.raw`^\s+"@oaas/[\w-]+": "`, after: `"` },
  { file: /kustomization\.yaml$/, before: String.raw`^\s+newTag: "?`, after: "" },
  { file: /compose\.yaml$/, before: String.raw`\$\{OAAS_VERSION:-`, after: String.raw`\}` },
  { file: /root-help\.cjs$/, before: '^const VERSION = "', after: '";$' },
  // Names of images, on pages and in comments, and what the recorded outputs print.
  { file: /\.(md|txt)$|Containerfile$/, before: String.raw`\b(?:oaas|images)/[a-z-]+:|^oaas |"oprc-crm/`, after: "" },
  { file: /Chart\.yaml$/, before: String.raw`^(?:version|appVersion|\s+version): "?`, after: "" },
];

/** Replaces our version in the text of a file. */
export function replaceVersion(file: string, text: string, from: string, to: string): string {
  let changed = file.endsWith("package-lock.json") ? replaceInLockfile(text, to) : text;
  for (const place of PLACES.filter((one) => one.file.test(file))) {
    const pattern = new RegExp(
      `(?<before>${place.before})${from.replaceAll(".", String.raw`\.`)}(?=${place.after})(?![\\w.-])`,
      "gm",
    );
    changed = changed.replaceAll(pattern, (...found) => `${String(found[1])}${to}`);
  }
  return changed;
}

/** The lockfile repeats the version of each workspace. */
function replaceInLockfile(text: string, to: string): string {
  const lockfile = JSON.parse(text) as {
    version?: string;
    packages: Record<string, { version?: string; link?: boolean }>;
  };
  const own = Object.entries(lockfile.packages).filter(
    ([folder, entry]) => !folder.includes("node_modules/") && entry.version !== undefined,
  );
  for (const [, entry] of own) entry.version = to;
  return `${JSON.stringify({ ...lockfile, version: to }, undefined, 2)}\n`;
}
