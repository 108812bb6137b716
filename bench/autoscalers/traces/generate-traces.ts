import type { Random } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";
import { normal, type LoadCurve } from "@oaas/nfr/simulation";

const MINUTES = 1440;
/** Requests per day of a trace, at most, to bound the time of a run. */
const MAX_REQUESTS = 250_000;

/** The load of each minute relative to the mean, before noise. */
type Shape = (minute: number, random: Random) => number;

interface Family {
  readonly name: string;
  /** A new shape of the family, with parameters from the random numbers. */
  readonly shape: (random: Random) => Shape;
  /** The standard deviation of the noise relative to the load. */
  readonly noise: number;
}

const DAY = 2 * Math.PI;

/** The families cover the range of the recorded traces: variation 0 to 18, peak 1 to 455 times the mean. */
const FAMILIES: readonly Family[] = [
  { name: "constant", noise: 0, shape: () => () => 1 },
  {
    name: "daily",
    noise: 0.1,
    shape: (random) => {
      const [depth, phase] = [0.3 + 0.65 * random.next(), DAY * random.next()];
      return (minute) => 1 + depth * Math.sin((DAY * minute) / MINUTES + phase);
    },
  },
  {
    name: "trend",
    noise: 0.15,
    shape: (random) => {
      const growth = 1 + 9 * random.next();
      const isFalling = random.next() < 0.5;
      return (minute) => 1 + growth * ((isFalling ? MINUTES - minute : minute) / MINUTES);
    },
  },
  {
    name: "steps",
    noise: 0.1,
    shape: (random) => {
      const levels = Array.from({ length: 6 }, () => 0.2 + 4 * random.next() ** 2);
      return (minute) => levels[Math.floor((6 * minute) / MINUTES)] ?? 1;
    },
  },
  {
    name: "on-off",
    noise: 0.2,
    shape: (random) => {
      const [period, duty] = [2 + Math.floor(60 * random.next()), 0.1 + 0.5 * random.next()];
      return (minute) => (minute % period < duty * period ? 1 / duty : 0);
    },
  },
  {
    name: "bursts",
    noise: 0.2,
    shape: (random) => {
      const height = 5 + 60 * random.next();
      const bursts = Array.from({ length: 3 + Math.floor(10 * random.next()) }, () => ({
        at: Math.floor(MINUTES * random.next()),
        length: 1 + Math.floor(20 * random.next()),
      }));
      return (minute) => (bursts.some(({ at, length }) => minute >= at && minute < at + length) ? height : 1);
    },
  },
  {
    name: "rare",
    noise: 0,
    shape: (random) => {
      const minutes = new Set(
        Array.from({ length: 4 + Math.floor(12 * random.next() ** 2) }, () => Math.floor(MINUTES * random.next())),
      );
      return (minute) => (minutes.has(minute) ? 100 : 0);
    },
  },
  {
    name: "heavy-tail",
    noise: 0,
    shape: (random) => {
      const exponent = 0.3 + 0.7 * random.next();
      return (_, each) => (1 - each.next()) ** -exponent;
    },
  },
];

/** Load with trend, daily season, bursts and noise. The same seed gives the same traces. */
export function generateTraces(count: number, seed = 1): readonly LoadCurve[] {
  return Array.from({ length: count }, (_, index) => {
    const family = FAMILIES[index % FAMILIES.length] as Family;
    return generateTrace(family, `${family.name}-${Math.floor(index / FAMILIES.length)}`, seededRandom(seed + index));
  });
}

function generateTrace({ shape, noise }: Family, name: string, random: Random): LoadCurve {
  const loadAt = shape(random);
  const loads = Array.from({ length: MINUTES }, (_, minute) =>
    Math.max(0, loadAt(minute, random) * (1 + noise * normal(random))),
  );
  const sum = loads.reduce((total, load) => total + load, 0);
  // From 14 requests per minute, as recorded, to the limit; more small functions than large ones.
  const requests = MINUTES * 14 * (MAX_REQUESTS / (MINUTES * 14)) ** (random.next() ** 2);
  const durationP50Ms = 50 * 200 ** random.next();
  const durationP99Ms = durationP50Ms * (1 + 6 * random.next() ** 3);
  const counts = loads.map((load) => Math.round((load * requests) / sum));
  return { name, intervalMs: 60_000, counts, durationP50Ms, durationP99Ms };
}
