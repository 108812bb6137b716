import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

type Corrections = NonNullable<ClassRuntimeStatus["drift_corrections"]>;

describeOnTarget("corrections of edited children", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  const where = "drift";

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${where}`);
    await fixture.startController({ namespaces: [where] });
    await fixture.apply(where, classManifest("plain"));
    await fixture.waitForPhase(where, "plain", "available");
  });
  afterAll(async () => {
    await fixture.close();
  });

  const corrections = async (): Promise<Corrections> => (await fixture.status(where, "plain"))?.drift_corrections ?? [];
  const untilCorrected = (expected: (records: Corrections) => void): Promise<void> =>
    eventually(async () => expected(await corrections()));
  const driftEvents = async (): Promise<readonly { note: string; type: string }[]> => {
    const json = await fixture.kubectl(`get events.events.k8s.io -n ${where} -o json`);
    const { items } = JSON.parse(json) as { items: { reason: string; note: string; type: string }[] };
    return items.filter(({ reason }) => reason === "DriftCorrected");
  };

  test("has no corrections while no one edits a child", async () => {
    expect(await corrections()).toEqual([]);
    expect(await driftEvents()).toEqual([]);
  });

  test("records field, values and manager of an edit, and emits an Event", async () => {
    await fixture.kubectl(`set image deploy/plain *=evil:1 -n ${where} --field-manager=kubectl-edit`);
    await untilCorrected(([record]) =>
      expect(record).toMatchObject({
        kind: "Deployment",
        name: "plain",
        fields: [
          {
            path: ".spec.template.spec.containers[0].image",
            was: JSON.stringify("evil:1"),
            now: JSON.stringify("example.test/fn:1"),
          },
        ],
        changed_by: "kubectl-edit",
        count: 1,
      }),
    );
    const [record] = await corrections();
    expect(record?.duration_ms).toBeGreaterThanOrEqual(0);
    await eventually(async () =>
      expect(await driftEvents()).toEqual([
        expect.objectContaining({
          type: "Normal",
          note: expect.stringMatching(
            /^Deployment plain: .*containers\[0\]\.image was "evil:1".*Changed by kubectl-edit\./,
          ),
        }),
      ]),
    );
  });

  test("counts repeated edits in one record and one Event", async () => {
    for (const owner of ["x1", "x2", "x3"]) {
      const labels = JSON.stringify({ metadata: { labels: { "oaas.io/owner": owner } } });
      await fixture.kubectl(`patch deploy plain -n ${where} --field-manager=fighter --type=merge -p ${labels}`);
      await eventually(async () => {
        const now = (await fixture.get(where, "deploy", "plain"))?.metadata.labels?.["oaas.io/owner"];
        expect(now).not.toBe(owner);
      });
    }
    await untilCorrected((records) =>
      expect(records.find(({ changed_by: by }) => by === "fighter")).toMatchObject({
        fields: [{ path: '.metadata.labels["oaas.io/owner"]' }],
      }),
    );
    const fights = (await driftEvents()).filter(({ note }) => note.includes("fighter"));
    expect(fights.length).toBe(1);
  });

  test("records a deleted child", async () => {
    await fixture.kubectl(`delete svc plain -n ${where} --wait=true`);
    await untilCorrected((records) =>
      expect(records).toContainEqual(
        expect.objectContaining({ kind: "Service", fields: [{ path: "", was: "deleted", now: "present" }] }),
      ),
    );
  });

  test("records nothing when the class itself changes", async () => {
    const before = await corrections();
    await fixture.kubectl(
      `patch crt plain -n ${where} --type=merge -p {"spec":{"functions":[{"function_key":"f","provision_config":{"container_image":"example.test/fn:2"}}]}}`,
    );
    await eventually(async () => {
      const images = await fixture.kubectl(`get deploy plain -n ${where} -o jsonpath={..image}`);
      expect(images).toContain("example.test/fn:2");
    });
    await fixture.waitForPhase(where, "plain", "available");
    expect(await corrections()).toEqual(before);
  });
});
