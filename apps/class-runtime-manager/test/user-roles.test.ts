import path from "node:path";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControllerFixture } from "./support/controller-fixture.ts";

const USER_ROLES = path.resolve(import.meta.dirname, "../../../deploy/class-runtime-manager/base/user-roles.yaml");
const NAMESPACE = "shop";
const WRITES = ["create", "update", "patch", "delete", "deletecollection"];
const READS = ["get", "list", "watch"];

describeOnTarget("aggregated roles of users", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;

  beforeAll(async () => {
    fixture = await ControllerFixture.start({ kwokNodes: 0 });
    await fixture.kubectl(`apply -f ${USER_ROLES}`);
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    for (const role of ["admin", "edit", "view", "oaas-environments-edit"])
      await fixture.kubectl(`create rolebinding ${role} -n ${NAMESPACE} --clusterrole=${role} --user=${role}`);
    await eventually(() => isAllowed("admin", "delete", "classruntimes.oaas.io"), {
      what: "the roles to be aggregated",
    });
    await eventually(() => isAllowed("edit", "delete", "classruntimes.oaas.io"));
    await eventually(() => isAllowed("view", "get", "classruntimes.oaas.io"));
  });
  afterAll(async () => {
    await fixture?.close();
  });

  const isAllowed = async (user: string, verb: string, resource: string): Promise<boolean> => {
    const { stdout } = await fixture.cluster.kubectl(
      ["auth", "can-i", verb, resource, "-n", NAMESPACE, `--as=${user}`],
      {},
    );
    return stdout.trim() === "yes";
  };
  const allowedVerbs = async (user: string, resource: string): Promise<readonly string[]> => {
    const verbs = [...WRITES, ...READS];
    const answers = await Promise.all(verbs.map((verb) => isAllowed(user, verb, `${resource}.oaas.io`)));
    return verbs.filter((_, index) => answers[index]);
  };

  test.each(["classruntimes", "deploymentrecords", "deploymenttemplates"])(
    "admin and edit write %s, view reads them",
    async (resource) => {
      expect(await allowedVerbs("admin", resource)).toEqual([...WRITES, ...READS]);
      expect(await allowedVerbs("edit", resource)).toEqual([...WRITES, ...READS]);
      expect(await allowedVerbs("view", resource)).toEqual(READS);
    },
  );

  test.each(["admin", "edit", "view"])("%s of a namespace only reads its environments", async (role) => {
    expect(await allowedVerbs(role, "environmentconfigs")).toEqual(READS);
    expect(await isAllowed(role, "patch", "environmentconfigs.oaas.io/status")).toBe(false);
  });

  test("the role to edit environments is bound explicitly, and cluster administrators have it", async () => {
    expect(await allowedVerbs("oaas-environments-edit", "environmentconfigs")).toEqual(WRITES);
    expect((await fixture.kubectl(`auth can-i create environmentconfigs.oaas.io -n ${NAMESPACE}`)).trim()).toBe("yes");
  });
});
