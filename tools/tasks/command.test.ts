import { expect, test } from "vitest";
import { capture } from "./command.ts";

test("returns the exit code of a command that does not read its input", async () => {
  const tooMuch = "x".repeat(1 << 20);
  const ended = await capture(process.execPath, ["-e", "console.log('no need'); process.exit(3)"], { stdin: tooMuch });
  expect(ended).toEqual({ exitCode: 3, output: "no need\n" });
});
