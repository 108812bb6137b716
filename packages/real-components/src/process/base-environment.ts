/** GOGC of Go programs; tests prefer speed over low memory use. */
const OF_GO = ["GOGC", "GOMEMLIMIT"];

/** The environment variables that every process inherits: PATH, the compile cache of Node and the settings of Go. */
export function baseEnvironment(): Record<string, string> {
  const { PATH = "" } = process.env;
  const passedOn = ["NODE_COMPILE_CACHE", ...OF_GO].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { PATH, ...Object.fromEntries(passedOn) };
}
