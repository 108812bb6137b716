import { expect, test } from "vitest";
import { nextObjectStatus, readyCondition, type ObjectFindings } from "./object-status.ts";

const BAD = [{ path: "$.spec.kind", message: "is wrong", fix: "fix it" }];
const found = (violations: typeof BAD, used: number, generation = 1): ObjectFindings<{ used_by: number }> => ({
  generation,
  conditions: [readyCondition(violations, "Classes may use it.")],
  extra: { used_by: used },
});

test("sets a complete status once and does not change it again", () => {
  const first = nextObjectStatus(undefined, found(BAD, 0), 1_000);
  expect(first).toMatchObject({
    changed: true,
    onlyExtra: false,
    status: {
      observedGeneration: 1,
      used_by: 0,
      message: "$.spec.kind: is wrong; fix it",
      last_updated: "1970-01-01T00:00:01.000Z",
      conditions: [
        { type: "Ready", status: "False", reason: "InvalidSpec", lastTransitionTime: "1970-01-01T00:00:01.000Z" },
      ],
    },
  });
  const again = nextObjectStatus(first.status, found(BAD, 0), 2_000);
  expect([again.changed, again.status]).toEqual([false, first.status]);
});

test("reports changes of extra fields only; keeps transition times", () => {
  const first = nextObjectStatus(undefined, found([], 1), 1_000).status;
  const more = nextObjectStatus(first, found([], 2), 2_000);
  expect(more).toMatchObject({ changed: true, onlyExtra: true, status: { used_by: 2 } });
  const edited = nextObjectStatus(more.status, found([], 2, 2), 3_000);
  expect(edited).toMatchObject({
    changed: true,
    onlyExtra: false,
    status: { conditions: [{ status: "True", observedGeneration: 2, lastTransitionTime: "1970-01-01T00:00:01.000Z" }] },
  });
  const broken = nextObjectStatus(edited.status, found(BAD, 2, 3), 4_000);
  expect(broken.status.conditions?.[0]?.lastTransitionTime).toBe("1970-01-01T00:00:04.000Z");
});
