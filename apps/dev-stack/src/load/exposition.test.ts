import { TimeSeriesStore } from "@oaas/promql";
import { expect, test } from "vitest";
import { formatExposition } from "./exposition.ts";

test("shows the newest samples with quoted labels, without series that ended or are outdated", () => {
  const store = new TimeSeriesStore();
  store.append({ __name__: "outdated" }, 1000, 1);
  store.append({ __name__: "ended" }, 99_000, 1);
  store.end({ __name__: "ended" }, 100_000);
  store.append({ __name__: "requests_total", pod: 'a"\\\n' }, 95_000, 1);
  store.append({ __name__: "requests_total", pod: 'a"\\\n' }, 100_000, 2.5);
  store.append({ __name__: "bucket", le: "+Inf" }, 100_000, Infinity);
  expect(formatExposition(store, 100_000)).toBe('bucket{le="+Inf"} +Inf\nrequests_total{pod="a\\"\\\\\\n"} 2.5\n');
});
