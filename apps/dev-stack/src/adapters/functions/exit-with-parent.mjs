// Preloaded into local functions: they end with the stack, also when it is killed and cannot stop them.
import process from "node:process";

process.on("disconnect", () => process.exit(0));
process.channel?.unref();
