import process from "node:process";
import { functions } from "./functions.mjs";
import { functionServer } from "./server.mjs";

const port = Number(process.env.PORT ?? 8080);
const server = functionServer(functions);
const sessions = new Set();

server.on("session", (session) => {
  sessions.add(session);
  session.once("close", () => sessions.delete(session));
});
server.on("error", (error) => {
  process.stderr.write(`cannot listen on port ${port}: ${error.message}\n`);
  process.exitCode = 1;
});
server.listen(port, () => {
  const address = server.address();
  const at = typeof address === "object" && address !== null ? address.port : port;
  process.stdout.write(`${Object.keys(functions).join(", ")} on port ${at}\n`);
});
// Graceful shutdown: finish running calls and accept no new ones.
process.once("SIGTERM", () => {
  server.close();
  for (const session of sessions) session.close();
});
