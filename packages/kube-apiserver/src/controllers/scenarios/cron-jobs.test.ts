import { describe, expect, test } from "vitest";
import { workloadSimulation } from "../index.ts";
import { typed } from "../objects/cluster-view.ts";
import { CRON_JOBS, JOBS } from "../objects/resources.ts";
import type { CronJob, Job } from "../objects/typed.ts";
import { TEST_SERVERS, Lab, template } from "../testing/lab.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

describe.each(TEST_SERVERS)("a CronJob on %s", (ground) => {
  async function started(spec: object = {}, image = "example.test/report:1", jobDurationMs = 1000): Promise<Lab> {
    const lab = await Lab.on(ground);
    await lab.start(workloadSimulation(lab.ports, { nodes: 1, jobDurationMs }));
    const pod = template(image, { app: "report" }) as { spec: object };
    await lab.create(CRON_JOBS, {
      metadata: { name: "report", namespace: "default" },
      spec: {
        schedule: "*/10 * * * *",
        jobTemplate: {
          spec: { backoffLimit: 0, template: { ...pod, spec: { ...pod.spec, restartPolicy: "Never" } } },
        },
        ...spec,
      },
    });
    return lab;
  }
  async function resume(lab: Lab): Promise<void> {
    await lab.change(CRON_JOBS, "report", (object) => ({
      ...object,
      spec: { ...typed<CronJob>(object).spec, suspend: false },
    }));
    await lab.pass(MINUTE_MS);
  }
  const jobs = (lab: Lab): readonly Job[] => lab.cluster.list(JOBS, "default").map((job) => typed<Job>(job));
  const names = (lab: Lab): readonly string[] => jobs(lab).map(({ metadata }) => metadata.name ?? "");
  const status = (lab: Lab): CronJob["status"] => typed<CronJob>(lab.object(CRON_JOBS, "report")).status;
  const eventsOf = (lab: Lab): readonly string[] =>
    lab.events(({ involvedObject }) => involvedObject.kind === "CronJob").map((line) => line.replaceAll(/\d{8}/g, "N"));
  /** The virtual clock starts in the year 2026. */
  const jobOfMinute = (minute: number): string => `report-${Date.UTC(2026, 0, 1) / MINUTE_MS + minute}`;

  test("starts a Job at each time, records start and end, and keeps the last three", async () => {
    const lab = await started();
    await lab.pass(9 * MINUTE_MS);
    expect(names(lab)).toEqual([]);
    await lab.pass(2 * MINUTE_MS);
    expect(names(lab)).toEqual([jobOfMinute(10)]);
    expect(jobs(lab)[0]?.metadata.annotations).toEqual({
      "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:10:00Z",
    });
    expect(eventsOf(lab)).toEqual([
      "Normal SuccessfulCreate: Created job report-N",
      "Normal SawCompletedJob: Saw completed job: report-N, condition: Complete",
    ]);
    expect(status(lab)).toMatchObject({ lastScheduleTime: "2026-01-01T00:10:00Z" });
    expect(status(lab)?.lastSuccessfulTime).toMatch(/^2026-01-01T00:10:0/);
    await lab.pass(HOUR_MS);
    expect(names(lab)).toEqual([50, 60, 70].map(jobOfMinute));
  });

  test("keeps one failed Job", async () => {
    const lab = await started({}, "example.test/report:crashing");
    await lab.pass(55 * MINUTE_MS);
    expect(names(lab)).toEqual([jobOfMinute(50)]);
    expect(status(lab)).not.toHaveProperty("lastSuccessfulTime");
  });

  test("Forbid waits for the running Job, Replace deletes it, Allow runs both", async () => {
    for (const [policy, running] of [
      ["Forbid", [jobOfMinute(10)]],
      ["Replace", [jobOfMinute(20)]],
      ["Allow", [jobOfMinute(10), jobOfMinute(20)]],
    ] as const) {
      const lab = await started({ concurrencyPolicy: policy }, "example.test/report:1", HOUR_MS);
      await lab.pass(21 * MINUTE_MS);
      expect(names(lab), policy).toEqual(running);
      expect(
        eventsOf(lab).some((line) => line.includes("JobAlreadyActive")),
        policy,
      ).toBe(policy === "Forbid");
      expect(
        status(lab)?.active?.map(({ name }) => name),
        policy,
      ).toEqual(running);
    }
  });

  test.each([
    { schedule: "*/10 * * * *", minute: 2990 },
    { schedule: "0 3 * * *", minute: 180 + 24 * 60 },
  ])("starts nothing while suspended, then only the last missed time of $schedule", async ({ schedule, minute }) => {
    const lab = await started({ suspend: true, schedule });
    await lab.pass(2995 * MINUTE_MS);
    expect(names(lab)).toEqual([]);
    await resume(lab);
    expect(names(lab)).toEqual([jobOfMinute(minute)]);
  });

  test("skips a time missed by more than the deadline", async () => {
    const lab = await started({ suspend: true, startingDeadlineSeconds: 60 });
    await lab.pass(35 * MINUTE_MS);
    await resume(lab);
    expect(names(lab)).toEqual([]);
    await lab.pass(5 * MINUTE_MS);
    expect(names(lab)).toEqual([jobOfMinute(40)]);
  });
});
