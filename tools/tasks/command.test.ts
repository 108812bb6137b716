import { expect, test } from "vitest";
import { capture } from "./command.ts";

test("a command that ends before it has read what it is given is told by its exit code", async () => {
  const tooMuch = "x".repeat(1 << 20);
  const ended = await capture(process.execPath, ["-e", "console.log('no need'); process.exit(3)"], { stdin: tooMuch });
  expect(ended).toEqual({ exitCode: 3, output: "no need\n" });
});
