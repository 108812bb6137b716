/** Starts a cluster with a real node, prints a line, and waits to be killed. */
import { join } from "node:path";
import { makeRunFolder, pauseImage, startNodeCluster, writeImageArchive } from "@oaas/real-components";

const folder = await makeRunFolder("nodes-and-wait");
await startNodeCluster({
  name: "test",
  folder: folder.path,
  fsync: false,
  nodes: 1,
  images: async (target) => {
    await writeImageArchive([pauseImage()], join(target, "images.tar"));
    return [join(target, "images.tar")];
  },
});
process.stdout.write("started\n");
setInterval(() => undefined, 60_000);
