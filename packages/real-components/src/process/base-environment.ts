/** How hard programs written in Go work at keeping their memory small; tests rather have them quick. */
const OF_GO = ["GOGC", "GOMEMLIMIT"];

/** What every process is given of our own environment: where programs are, where Node keeps what it compiled, if anywhere, and what Go is told of memory. */
export function baseEnvironment(): Record<string, string> {
  const { PATH = "" } = process.env;
  const passedOn = ["NODE_COMPILE_CACHE", ...OF_GO].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { PATH, ...Object.fromEntries(passedOn) };
}
