import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import { buildConsole } from "../tools/tasks/console.ts";
import { emitEvents } from "./console/event-load.ts";
import { openConsole, type OpenedConsole, type PageMemory } from "./console/opened-console.ts";
import type { Bench, Measurement } from "./harness.ts";
import { scaled } from "./kube/scale.ts";
import { startMeasuredPm, type MeasuredPm } from "./pm/measured-pm.ts";

const DEPLOYMENTS = scaled(10_000);
const PACKAGES = 50;
const ROUNDS = 10;
const IDLE_MS = 30_000;
const EVENTS_PER_SECOND = 100;
/** A page keeps its newest 300 events; after this time it has had all of them. */
const WARM_UP_MS = 15_000;
const DEFAULT_MINUTES = 1;
const MIB = 2 ** 20;
const SEEDED = path.join(import.meta.dirname, "pm", "seeded-main.ts");

/** The console in Chromium: interactions, processor time at rest, memory under events, and what it costs the server. */
export const bench: Bench = {
  name: "console",
  flags: { minutes: `minutes of events; default: ${DEFAULT_MINUTES}` },
  async run(log, { minutes = String(DEFAULT_MINUTES) }) {
    const problem = await buildConsole(log);
    if (problem !== undefined) throw new Error(problem);
    await using chromium = await startBrowser();
    await using full = await startSeeded(PACKAGES, DEPLOYMENTS);
    log(`interactions with ${DEPLOYMENTS} deployments and with none, in turn`);
    const interactions = await measureInteractions(chromium, full);
    log(`nothing happens for ${IDLE_MS / 1000} s`);
    const idle = await measureIdle(chromium, full);
    log(`${EVENTS_PER_SECOND} events per second for ${minutes} min`);
    const events = await measureEvents(chromium, full, Number(minutes) * 60_000);
    log("the package manager with and without the console");
    const server = await measureServer(chromium);
    return {
      title: `The console in Chromium with ${DEPLOYMENTS} deployments, and ${EVENTS_PER_SECOND} events per second for ${minutes} min`,
      measurements: [
        ...measurementsOf(interactions.full, ""),
        ...measurementsOf(interactions.empty, " without deployments"),
        { name: "processor of an idle page", value: idle, unit: "% of one core", note: "process of the page" },
        { name: "events received", value: events.perSecond, unit: "events/s", note: `${events.received} in total` },
        { name: "heap before the events", value: events.before.heapBytes / MIB, unit: "MiB", note: "after GC" },
        { name: "heap after the events", value: events.after.heapBytes / MIB, unit: "MiB", note: "after GC" },
        { name: "nodes before the events", value: events.before.nodes, unit: "nodes" },
        { name: "nodes after the events", value: events.after.nodes, unit: "nodes" },
        { name: "listeners after the events", value: events.after.listeners - events.before.listeners, unit: "more" },
        { name: "server heap without the console", value: server.without / MIB, unit: "MiB", note: "after GC" },
        { name: "server heap with the console", value: server.with / MIB, unit: "MiB", note: "after GC" },
        { name: "server heap after serving it", value: server.served / MIB, unit: "MiB", note: "after GC" },
      ],
      ratios: [
        {
          name: "interaction to paint: without deployments / with",
          value: interactions.empty.meanMs / interactions.full.meanMs,
          floor: 0.5,
          explains: `means of ${ROUNDS} rounds of searching in the palette and filtering the list`,
        },
        {
          name: "heap: before / after the events",
          value: events.before.heapBytes / events.after.heapBytes,
          floor: 0.85,
          explains: "flat memory: the page has had more events than it keeps before the first reading",
        },
        {
          name: "server heap: without / with the console",
          value: server.without / server.with,
          floor: 0.9,
          explains: "a package manager without the console loads no part of it",
        },
      ],
    };
  },
};

function startSeeded(packages: number, deployments: number, more: Record<string, string> = {}): Promise<MeasuredPm> {
  const env = { BENCH_PACKAGES: String(packages), BENCH_DEPLOYMENTS: String(deployments), ...more };
  return startMeasuredPm({ program: SEEDED, env });
}

async function measureInteractions(chromium: BrowserUnderTest, full: MeasuredPm) {
  await using none = await startSeeded(0, 0);
  const taken: Record<"full" | "empty", number[]> = { full: [], empty: [] };
  await using onFull = await openConsole(chromium, `${full.url}/deployments?sort=key`, "order-00000");
  await using onEmpty = await openConsole(chromium, `${none.url}/deployments?sort=key`, "No deployments");
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, opened] of [["full", onFull] as const, ["empty", onEmpty] as const]) {
      await opened.page.bringToFront();
      const durations = await interact(opened);
      // The first round compiles.
      if (round > 0) taken[name].push(...durations);
    }
  }
  return { full: summarize(taken.full), empty: summarize(taken.empty) };
}

function summarize(durations: readonly number[]) {
  const sorted = durations.toSorted((a, b) => a - b);
  const middle = sorted[Math.trunc(sorted.length / 2)] ?? Number.NaN;
  return { meanMs: mean(sorted), medianMs: middle, slowestMs: sorted.at(-1) ?? Number.NaN };
}

function measurementsOf({ meanMs, medianMs, slowestMs }: ReturnType<typeof summarize>, where: string): Measurement[] {
  return [
    { name: `interaction to paint${where}`, value: meanMs, unit: "ms", note: "mean" },
    { name: `median interaction${where}`, value: medianMs, unit: "ms" },
    { name: `slowest interaction${where}`, value: slowestMs, unit: "ms" },
  ];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Interactions that an empty page has too. */
async function interact(opened: OpenedConsole): Promise<readonly number[]> {
  const { page } = opened;
  const keys = ["Control+k", "o", "r", "d", "Escape", "/", "4", "2", "Backspace", "Backspace"];
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30)))");
  }
  // The list follows the typing.
  await sleep(600);
  const durations = await opened.interactionsMs();
  if (durations.length !== keys.length)
    throw new Error(`${durations.length} of ${keys.length} interactions were measured`);
  return durations;
}

async function measureIdle(chromium: BrowserUnderTest, pm: MeasuredPm): Promise<number> {
  await using opened = await openConsole(chromium, `${pm.url}/deployments`, "order-00000");
  await sleep(5_000);
  const before = await opened.cpuMs();
  await sleep(IDLE_MS);
  return ((await opened.cpuMs()) - before) / (IDLE_MS / 100);
}

interface EventFigures {
  readonly before: PageMemory;
  readonly after: PageMemory;
  readonly received: number;
  readonly perSecond: number;
}

async function measureEvents(chromium: BrowserUnderTest, pm: MeasuredPm, durationMs: number): Promise<EventFigures> {
  await using opened = await openConsole(chromium, `${pm.url}/activity?tab=events`, "No events yet");
  await emitEvents(pm, { perSecond: EVENTS_PER_SECOND, durationMs: WARM_UP_MS, packages: PACKAGES });
  await sleep(2_000);
  const before = await opened.memory();
  const [receivedBefore, start] = [opened.events(), performance.now()];
  await emitEvents(pm, { perSecond: EVENTS_PER_SECOND, durationMs, packages: PACKAGES });
  const seconds = (performance.now() - start) / 1000;
  await sleep(2_000);
  const received = opened.events() - receivedBefore;
  return { before, after: await opened.memory(), received, perSecond: received / seconds };
}

async function measureServer(chromium: BrowserUnderTest) {
  await using without = await startSeeded(0, 0, { CONSOLE_ENABLED: "false" });
  await using withConsole = await startSeeded(0, 0);
  const heapOf = async (pm: MeasuredPm): Promise<number> => (await pm.figures({ heap: true })).heapBytes ?? Number.NaN;
  for (const pm of [without, withConsole]) await pm.call("GET", "/api/v1/packages");
  const heaps = { without: await heapOf(without), with: await heapOf(withConsole) };
  await using _opened = await openConsole(chromium, withConsole.url, "Nothing is registered yet");
  return { ...heaps, served: await heapOf(withConsole) };
}
