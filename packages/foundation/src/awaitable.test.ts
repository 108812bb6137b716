import { expect, test } from "vitest";
import { onceThere, rejecting } from "./awaitable.ts";

test("goes on at once with what is there, and later with what is not", async () => {
  expect(onceThere(2, (n) => n + 1)).toBe(3);
  const later = onceThere(Promise.resolve(2), (n) => n + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(3);
});

test("what is thrown at once is rejected where somebody waits", async () => {
  expect(rejecting(() => 2)).toBe(2);
  await expect(
    rejecting(() => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
});
