import { realAmbient } from "@oaas/foundation/real";
import { openEtcdStore } from "@oaas/storage/etcd";
import { componentFile, runCommand, startEtcd } from "@oaas/testkit";
import type { Measurement, Ratio } from "../harness.ts";
import { fill, measureLists } from "./reading.ts";
import { compare, concurrently, type Compared } from "./rounds.ts";

const VALUE = "x".repeat(1024);
const ROUNDS = 9;

/** Puts with our client compared with the official Go client, on the same etcd in the same run. */
export async function measureEtcd(): Promise<{ measurements: Measurement[]; ratios: Ratio[] }> {
  await using etcd = await startEtcd({ fsync: true });
  const store = openEtcdStore({ ambient: realAmbient, endpoints: etcd.endpoints, keyPrefix: "/oaas/ours/" });
  let n = 0;
  const put = (): Promise<unknown> =>
    store.commit({ writes: [{ op: "put", key: `${(n += 1) % 5000}`, value: VALUE }] });
  const against = async (width: number, total: number): Promise<Compared> => {
    // The Go program reports its own rate without its start time.
    return compare(
      ROUNDS,
      () => concurrently(total, width, put),
      async () => {
        const start = performance.now();
        const perSecond = await goPuts(etcd.endpoints, width, total);
        return (perSecond * (performance.now() - start)) / 1000;
      },
    );
  };
  try {
    const one = await against(1, 300);
    const many = await against(32, 3200);
    await fill(store);
    return {
      measurements: [
        ...(await measureLists("etcd", store)),
        { name: "etcd by our client: put, one at a time", value: one.ours, unit: "put/s" },
        { name: "etcd by the Go client: put, one at a time", value: one.theirs, unit: "put/s" },
        { name: "etcd by our client: put, 32 at once", value: many.ours, unit: "put/s" },
        { name: "etcd by the Go client: put, 32 at once", value: many.theirs, unit: "put/s" },
      ],
      ratios: [
        {
          name: "etcd put / Go client's put, one at a time",
          value: one.ratio,
          floor: 0.8,
          explains: "same etcd with fsync, same value, one caller",
        },
        {
          name: "etcd put / Go client's put, 32 at once",
          value: many.ratio,
          floor: 0.7,
          explains: "32 callers on one connection; on two cores Node's HTTP/2 takes time that etcd itself would use",
        },
      ],
    };
  } finally {
    await store.close();
  }
}

async function goPuts(endpoints: readonly string[], width: number, total: number): Promise<number> {
  const args = [`-endpoints=${endpoints.join(",")}`, `-c=${width}`, `-n=${total}`, `-size=${VALUE.length}`];
  const { stdout, stderr, exitCode } = await runCommand(componentFile("etcd-bench"), args);
  if (exitCode !== 0) throw new Error(`etcd-bench failed: ${stderr}`);
  return (JSON.parse(stdout) as { perSecond: number }).perSecond;
}
