#!/usr/bin/env node
// Prints the root help at once on any Node version. Runs everything else on the project's Node if this one is too old,
// from the bundle (npm run bundle) if it is newer than its sources, else from the sources.
// CommonJS, because it starts faster than an ES module.
const { writeSync } = require("node:fs");
const process = require("node:process");
const { isRootHelpRequest, rootHelp } = require("../src/root-help.cjs");

if (isRootHelpRequest(process.argv.slice(2))) writeSync(1, rootHelp());
else void import("./start.mjs");
