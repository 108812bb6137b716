/** One flag with all values, for one that may be given several times: `--a=x --a=y` is `--a=x,y`. */
export function joinRepeated(args: readonly string[], flag: string): readonly string[] {
  const lead = `${flag}=`;
  const values = args.filter((arg) => arg.startsWith(lead)).map((arg) => arg.slice(lead.length));
  if (values.length < 2) return args;
  return [...args.filter((arg) => !arg.startsWith(lead)), lead + values.join(",")];
}
