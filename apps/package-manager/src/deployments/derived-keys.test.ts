import { Fault } from "@oaas/foundation";
import type { ClassKey } from "@oaas/models";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a"]);
  manager = await fixture.manager();
  const [first] = fixture.package.classes;
  const other = { ...first!, key: "Other" as ClassKey };
  fixture.package = { ...fixture.package, classes: [...fixture.package.classes, other] };
});
afterEach(() => fixture.dispose());

const deploy = (classKey: string, isKeyMade: boolean) =>
  manager.service
    .apply({ deployment: deploymentFor(["a"], { classKey: classKey as ClassKey }), isKeyDerived: isKeyMade }, CALL, {})
    .then(
      ({ status }) => status as string,
      (thrown: unknown) => Fault.from(thrown).message,
    );

test("gives a derived key to one of two classes, also under concurrency", async () => {
  const answers = await fixture.drive(Promise.all([deploy("Order", true), deploy("Other", true)]));
  expect(answers.toSorted()).toEqual([
    "created",
    expect.stringMatching(/^deployment "orders" belongs to class shop\.(Order|Other); use another deployment_key$/),
  ]);
  expect((await manager.service.revisions(KEY, {})).total).toBe(1);
});

test("accepts the same class again, and another class with an explicit key", async () => {
  expect(await fixture.drive(deploy("Order", true))).toBe("created");
  expect(await fixture.drive(deploy("Order", true))).toBe("unchanged");
  expect(await fixture.drive(deploy("Other", false))).toBe("updated");
});
