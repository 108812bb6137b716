import { runScenario } from "../scenario.ts";

/** Prints the trace of the scenario of one seed: `node tests/state-safety/src/programs/run-seed.ts 17`. */
const seed = Number(process.argv[2]);
const { trace, losses, stuck } = await runScenario(seed);
process.stdout.write(`${trace.join("\n")}\n${JSON.stringify({ seed, losses, stuck }, null, 2)}\n`);
