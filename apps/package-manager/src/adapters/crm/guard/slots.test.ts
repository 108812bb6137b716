import { cancelled } from "@oaas/foundation";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Slots } from "./slots.ts";

const never = new AbortController().signal;

describe("slots", () => {
  it("serve in order, refuse one too many, and forget who gave up", async () => {
    const slots = new Slots("edge", 1, 2);
    const leave = await slots.take(never);
    const impatient = new AbortController();
    const order: string[] = [];
    const first = slots.take(impatient.signal).catch(() => order.push("gave up"));
    const second = slots.take(never).then((done) => {
      order.push("second");
      return done;
    });
    await expect(slots.take(never)).rejects.toMatchObject({ detail: { kind: "resource-exhausted", limit: "edge" } });
    impatient.abort(cancelled());
    await first;
    leave();
    leave();
    (await second)();
    expect(order).toEqual(["gave up", "second"]);
    (await slots.take(never))();
  });

  it("never hold more than allowed, and lose no place, whoever leaves or gives up when", async () => {
    const steps = fc.array(fc.record({ act: fc.constantFrom("take", "leave", "give up"), pick: fc.nat(20) }));
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (acts, most) => {
        const slots = new Slots("edge", most, 100);
        const inside: (() => void)[] = [];
        const callers: AbortController[] = [];
        for (const { act, pick } of acts) {
          if (act === "take") {
            const caller = new AbortController();
            callers.push(caller);
            void slots.take(caller.signal).then(
              (leave) => inside.push(leave),
              () => undefined,
            );
          } else if (act === "leave") inside.splice(pick % Math.max(1, inside.length), 1)[0]?.();
          else callers[pick % Math.max(1, callers.length)]?.abort(cancelled());
          for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
          expect(inside.length).toBeLessThanOrEqual(most);
        }
        for (const caller of callers) caller.abort(cancelled());
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        for (const leave of inside.splice(0)) leave();
        for (let n = 0; n < most; n += 1) await slots.take(never);
      }),
    );
  });
});
