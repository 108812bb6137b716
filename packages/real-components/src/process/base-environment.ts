/** What every process is given of our own environment: where programs are, and where Node keeps what it compiled, if anywhere. */
export function baseEnvironment(): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}
