import { Fault } from "@oaas/foundation";
import type { ClassKey } from "@oaas/models";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-world.ts";

let world: DeploymentWorld;
let manager: ManagerUnderTest;
beforeEach(async () => {
  world = new DeploymentWorld(await memoryWorldStore(), ["a"]);
  manager = await world.manager();
  const [first] = world.package.classes;
  const other = { ...first!, key: "Other" as ClassKey };
  world.package = { ...world.package, classes: [...world.package.classes, other] };
});
afterEach(() => world.dispose());

const deploy = (classKey: string, isKeyMade: boolean) =>
  manager.service
    .apply({ deployment: wishFor(["a"], { classKey: classKey as ClassKey }), isKeyDerived: isKeyMade }, CALL, {})
    .then(
      ({ status }) => status as string,
      (thrown: unknown) => Fault.from(thrown).message,
    );

test("of two classes whose names make the same key one has it, also when both come at once", async () => {
  const answers = await world.drive(Promise.all([deploy("Order", true), deploy("Other", true)]));
  expect(answers.toSorted()).toEqual([
    "created",
    expect.stringMatching(/^deployment "orders" belongs to class shop\.(Order|Other); use another deployment_key$/),
  ]);
  expect((await manager.service.revisions(KEY, {})).total).toBe(1);
});

test("the same class again is fine, and so is another whose key was given", async () => {
  expect(await world.drive(deploy("Order", true))).toBe("created");
  expect(await world.drive(deploy("Order", true))).toBe("unchanged");
  expect(await world.drive(deploy("Other", false))).toBe("updated");
});
