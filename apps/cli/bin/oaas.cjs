#!/usr/bin/env node
// Starts the command line: the front page at once, on any Node; everything else on the project's own Node if this one is too
// old, from the bundle (npm run bundle) when it is newer than all its sources, else from the sources.
// CommonJS, because Node starts it in half the time above its own that a module takes.
const { writeSync } = require("node:fs");
const process = require("node:process");
const { asksForFrontPage, frontPage } = require("../src/front-page.cjs");

if (asksForFrontPage(process.argv.slice(2))) writeSync(1, frontPage());
else void import("./start.mjs");
