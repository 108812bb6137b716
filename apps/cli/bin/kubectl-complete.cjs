#!/usr/bin/env node
// Completes `kubectl oaas`: kubectl runs `kubectl_complete-oaas WORD...` and expects one candidate per line, then a
// directive of the cobra library.
const { writeSync } = require("node:fs");
const process = require("node:process");

/** Candidates are complete; kubectl does not add names of files. */
const NO_FILE_COMPLETION = 4;

process.argv.splice(2, 0, "__complete");
process.on("exit", () => writeSync(1, `:${NO_FILE_COMPLETION}\n`));
require("./oaas.cjs");
