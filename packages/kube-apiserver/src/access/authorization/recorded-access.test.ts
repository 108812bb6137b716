import { expect, it } from "vitest";
import { ACCESS_OBJECTS } from "../../../test/recording/access-cases.ts";
import type { RecordedAccess } from "../../../test/recording/access-answers.ts";
import recorded from "../../../testdata/recorded/access.json" with { type: "json" };
import { Authorizer } from "./authorizer.ts";
import { bootstrapRoles } from "./bootstrap-roles.ts";
import type { PathAttempt, ResourceAttempt } from "./policy-rule.ts";
import { fakeAccessObjects } from "../testing/fake-access-objects.ts";

it("allows the same requests as the real server with the same roles and bindings", () => {
  const authorizer = new Authorizer(fakeAccessObjects([...bootstrapRoles(), ...ACCESS_OBJECTS]));
  const cases = recorded.cases as unknown as readonly RecordedAccess[];
  const actual = cases.map(({ user: name, groups, wants }) => {
    const user = { name, groups };
    const { resourceAttributes, nonResourceAttributes } = wants as {
      resourceAttributes?: ResourceAttempt;
      nonResourceAttributes?: PathAttempt;
    };
    const isAllowed =
      (resourceAttributes !== undefined && authorizer.canAccessResource(user, resourceAttributes)) ||
      (nonResourceAttributes !== undefined && authorizer.canAccessPath(user, nonResourceAttributes));
    return { user: name, groups, wants, isAllowed };
  });
  expect(actual).toEqual(cases);
});
