/** The last lines of several logs as one, in the order of their times, each with whose it is. Lines below another belong to it. */
export function mergedLogs(tails: ReadonlyMap<string, readonly string[]>, count: number): readonly string[] {
  const entries = [...tails].flatMap(([file, lines]) => {
    let at = "";
    return lines.map((line) => {
      at = /^\d\d:\d\d:\d\d\.\d{3}/.exec(line)?.[0] ?? at;
      return { at, text: `${ownerOf(file).padEnd(15)} ${line}` };
    });
  });
  return entries
    .toSorted((one, other) => one.at.localeCompare(other.at))
    .slice(-count)
    .map(({ text }) => text);
}

/** `clusters/edge/class-runtime-manager.log` is of edge, `package-manager.log` of the package manager. */
function ownerOf(file: string): string {
  const parts = file.split(/[\\/]/);
  return parts.length > 1 ? (parts.at(-2) ?? "") : (parts[0] ?? "").replace(/\.(?:log|out)$/, "");
}
